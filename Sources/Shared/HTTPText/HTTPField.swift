internal import Bytes

/// A header field (RFC 9110, section 5).
public struct HTTPField: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Parses `Name: value`, ignoring spaces and tabs around the value; `nil` unless the field ``isValid``.
    public init?(line: String) {
        guard let field = HTTPField(line: Array(line.utf8)[...]), field.isValid else { return nil }
        self = field
    }

    /// Parses a received line (RFC 9112, section 5). `nil` if the name is not a token, there is no colon, or the value
    /// contains NUL or CR; other control characters are left to the reader of the value.
    public init?(line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        let value = trimmed(line[(colon + 1)...])
        guard !name.isEmpty, name.allSatisfy(isTokenCharacter), !value.contains(where: { $0 == 0 || $0 == 0x0D })
        else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
    }

    /// Whether the field can be sent: the name is a token, and the value has no control characters but tab.
    public var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenCharacter) && value.utf8.allSatisfy(isFieldContent)
    }

    /// Compares the name, ignoring case.
    public func isNamed(_ name: String) -> Bool { equalsIgnoringCase(self.name.utf8, name) }
}

/// Whether the byte can occur in a token, such as a field name (RFC 9110, section 5.6.2).
package func isTokenCharacter(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
}

/// Whether the byte can occur in a field value: no control character but tab (RFC 9110, section 5.5).
package func isFieldContent(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }
