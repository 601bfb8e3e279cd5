internal import Bytes

/// The form of `--log.format`.
public enum LogFormat: String, CaseIterable, Sendable {
    case logfmt
    case json

    /// A line without its end.
    func line(_ metadata: Logger.Metadata) -> String {
        let fields = metadata.fields
        return switch self {
        case .logfmt: fields.map { "\(logfmtText($0.name))=\(logfmtText($0.value))" }.joined(separator: " ")
        case .json: "{\(fields.map { "\(jsonText($0.name)):\(jsonText($0.value))" }.joined(separator: ","))}"
        }
    }
}

/// The text as it is when it is unambiguous, else as JSON, which is what readers of logfmt expect in quotes. U+FFFD
/// stands for bytes that were not UTF-8. A comma is there in lists.
private func logfmtText(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
        !isEscaped(scalar) && !" ,=\"\u{FFFD}".unicodeScalars.contains(scalar)
            && scalar.properties.generalCategory != .spaceSeparator
    }
    return isPlain && !text.isEmpty ? text : jsonText(text)
}

/// Escaped: characters that steer a terminal or turn the direction of the text.
private func jsonText(_ text: String) -> String { jsonString(text, escaping: isEscaped) }

private func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    breaksLine(scalar) || (!scalar.isASCII && scalar.properties.generalCategory == .format)
}
