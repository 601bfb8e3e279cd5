internal import Bytes

/// Output format, by its name in `--log.format`.
public enum LogFormat: String, CaseIterable, Sendable {
    case logfmt
    case json

    /// Formats a line, without its line end.
    func line(_ metadata: Logger.Metadata) -> String {
        let fields = metadata.fields
        return switch self {
        case .logfmt: fields.map { "\(logfmtText($0.name))=\(logfmtText($0.value))" }.joined(separator: " ")
        case .json: "{\(fields.map { "\(jsonText($0.name)):\(jsonText($0.value))" }.joined(separator: ","))}"
        }
    }
}

/// Returns unambiguous text as it is, otherwise a JSON string, which logfmt readers expect in quotes. U+FFFD replaces
/// bytes that were not UTF-8, and commas separate the elements of lists, so both are quoted.
private func logfmtText(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
        !isEscaped(scalar) && !" ,=\"\u{FFFD}".unicodeScalars.contains(scalar)
            && scalar.properties.generalCategory != .spaceSeparator
    }
    return isPlain && !text.isEmpty ? text : jsonText(text)
}

/// Returns a JSON string that also escapes characters that control a terminal or change the text direction.
private func jsonText(_ text: String) -> String { jsonString(text, escaping: isEscaped) }

private func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    breaksLine(scalar) || (!scalar.isASCII && scalar.properties.generalCategory == .format)
}
