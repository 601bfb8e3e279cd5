/// A header field as a user writes it: `Name: value`.
struct HeaderField: Sendable, Equatable {
    var name: String
    var value: String
}

extension HeaderField {
    /// nil when the name is no token (RFC 9110 section 5.6.2) or the value has a control character.
    init?(_ text: Substring) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = text[..<colon]
        var value = text[text.utf8.index(after: colon)...]
        while let first = value.utf8.first, first == 0x20 || first == 0x09 { value = value.dropFirst() }
        while let last = value.utf8.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenCharacter),
            value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// The fields of a file, one a line; blank lines and lines that begin with `#` are passed over.
    ///
    /// - Returns: the number of the first line that is no field, if there is one.
    static func parse(file text: String) -> Result<[HeaderField], BadLine> {
        var fields: [HeaderField] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let isBlank = line.allSatisfy { $0 == " " || $0 == "\t" }
            if isBlank || line.first == "#" { continue }
            guard let field = HeaderField(line) else { return .failure(BadLine(number: index + 1)) }
            fields.append(field)
        }
        return .success(fields)
    }

    struct BadLine: Error, Equatable {
        var number: Int
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
