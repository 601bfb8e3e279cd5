/// A header field (RFC 9110, section 5).
public struct HTTPField: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Reads `Name: value`; blanks and tabs around the value do not belong to it. Nil when the name is no token or the
    /// value has a control character.
    public init?(line: String) {
        guard let field = HTTPField(line: Array(line.utf8)[...]), field.isValid else { return nil }
        self = field
    }

    /// Reads a line that was received (RFC 9112, section 5). Nil when it has no colon, a blank in the name, or a NUL or a
    /// lone CR in the value; other control characters are left to who reads the value.
    public init?(line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        let value = trimmed(line[(colon + 1)...])
        guard !name.isEmpty, name.allSatisfy(isTokenCharacter), !value.contains(where: { $0 == 0 || $0 == 0x0D })
        else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
    }

    /// Whether it can be sent: the name is a token, and the value has no control characters.
    public var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenCharacter) && value.utf8.allSatisfy(isFieldContent)
    }

    /// Whether that is its name, in any case.
    public func isNamed(_ name: String) -> Bool { equalsIgnoringCase(self.name.utf8, name) }
}

/// The header fields of a message, in their order.
public struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public var fields: [HTTPField]

    public init(_ fields: [HTTPField] = []) { self.fields = fields }

    public init(dictionaryLiteral fields: (String, String)...) {
        self.fields = fields.map { HTTPField(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name.
    public func first(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of all fields of that name, joined with `, ` (RFC 9110, section 5.3); nil when there is none.
    public func joined(_ name: String) -> String? {
        let values = fields.filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Number of fields of that name.
    public func count(_ name: String) -> Int { fields.count { $0.isNamed(name) } }

    /// The members of all fields of that name, each a comma-separated list (RFC 9110, section 5.6.1).
    public func list(_ name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.flatMap { $0.value.split(separator: ",") }
            .map { String(trimmed($0)) }.filter { !$0.isEmpty }
    }
}

/// One element of an `Accept` or `Accept-Encoding` field (RFC 9110 section 12.5).
package struct AcceptElement {
    /// The media range or coding, in lower case.
    package var name: String
    /// Without the quality, in the order in which they were given: names in lower case, values without quotation marks.
    package var parameters: [(name: String, value: String)] = []
    /// 0 to 1, in thousandths.
    package var quality = 1000

    /// The value of a parameter that is given once at least: the first one.
    package subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }

    /// The first elements of such a field, with their first parameters, without those whose quality is malformed. No
    /// client sends as many as are read.
    package static func list(_ field: String) -> [AcceptElement] {
        split(field.utf8[...], at: UInt8(ascii: ","), limit: 16).compactMap { element in
            var parts = split(element, at: UInt8(ascii: ";"), limit: 8)
            guard let name = parts.popFirst().map(text), !name.isEmpty else { return nil }
            var result = AcceptElement(name: name.lowercased())
            for part in parts {
                let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                let (name, value) = (text(pair[0]).lowercased(), pair.count > 1 ? text(pair[1]) : "")
                if name == "q" {
                    guard let quality = qualityValue(value.utf8Span.span) else { return nil }
                    result.quality = quality
                } else if !value.isEmpty {
                    result.parameters.append((name, value))
                }
            }
            return result
        }
    }
}

/// The first parts between separators, outside of quotation marks.
private func split(_ text: Substring.UTF8View, at separator: UInt8, limit: Int) -> ArraySlice<Substring.UTF8View> {
    var isQuoted = false
    return text.split(maxSplits: limit, omittingEmptySubsequences: false) { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == separator && !isQuoted
    }.prefix(limit)
}

/// Without the blanks around it, and without quotation marks.
private func text(_ bytes: Substring.UTF8View) -> String {
    String(decoding: trimmed(bytes).filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
}
