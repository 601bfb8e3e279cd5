/// RFC 8259, as short as can be: somebody else's judgement of what ``JSONRecordReader`` reads.
struct JSONGrammar {
    private struct Refused: Error {}

    private let bytes: [UInt8]
    private var index = 0

    /// Whether it is JSON without half surrogate pairs, and with numbers that doubles can hold, whole ones 64 bits.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var grammar = JSONGrammar(bytes: bytes)
        do throws(Refused) {
            try grammar.element()
            return grammar.index == bytes.count
        } catch {
            return false
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var character: Character? { index < bytes.count ? Character(Unicode.Scalar(bytes[index])) : nil }

    private mutating func take(_ characters: String) -> Bool {
        guard let character, characters.contains(character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ text: String) throws(Refused) {
        for character in text {
            guard take(String(character)) else { throw Refused() }
        }
    }

    private mutating func whiteSpace() {
        while take(" ") || take("\t") || take("\n") || take("\r") {}
    }

    private mutating func element() throws(Refused) {
        whiteSpace()
        switch character {
        case "{": try list("{", "}") { (grammar) throws(Refused) in try grammar.member() }
        case "[": try list("[", "]") { (grammar) throws(Refused) in try grammar.element() }
        case "\"": try string()
        case "t": try expect("true")
        case "f": try expect("false")
        case "n": try expect("null")
        default: try number()
        }
        whiteSpace()
    }

    private mutating func list(
        _ opening: String, _ closing: String, _ item: (inout JSONGrammar) throws(Refused) -> Void
    ) throws(Refused) {
        try expect(opening)
        whiteSpace()
        if take(closing) { return }
        repeat { try item(&self) } while take(",")
        try expect(closing)
    }

    private mutating func member() throws(Refused) {
        whiteSpace()
        try string()
        whiteSpace()
        try expect(":")
        try element()
    }

    private mutating func string() throws(Refused) {
        try expect("\"")
        var pendingLead = false
        while !take("\"") {
            guard index < bytes.count, bytes[index] >= 0x20 else { throw Refused() }
            var unit: UInt16 = 0
            if take("\\") {
                if take("u") {
                    for _ in 0..<4 {
                        guard let digit = character?.hexDigitValue, character?.isASCII == true else { throw Refused() }
                        unit = unit << 4 | UInt16(digit)
                        index += 1
                    }
                } else if !take("\"\\/bfnrt") {
                    throw Refused()
                }
            } else {
                index += 1
            }
            guard pendingLead == UTF16.isTrailSurrogate(unit) else { throw Refused() }
            pendingLead = UTF16.isLeadSurrogate(unit)
        }
        guard !pendingLead else { throw Refused() }
    }

    private mutating func number() throws(Refused) {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        let whole = String(decoding: bytes[start..<index], as: UTF8.self)
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("eE") {
            isWhole = false
            _ = take("+-")
            try digits()
        }
        guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)), value.isFinite,
            !isWhole || Int64(whole) != nil || UInt64(whole) != nil
        else { throw Refused() }
    }

    private mutating func digits() throws(Refused) {
        guard take("0123456789") else { throw Refused() }
        while take("0123456789") {}
    }
}

extension JSONGrammar {
    /// Whether the message is one JSON text, or several with white space or U+001E between them.
    static func acceptsTexts(_ message: ArraySlice<UInt8>) -> Bool {
        let isBetween = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D, 0x1E].contains(byte) }
        let message = message.drop(while: isBetween)
        if accepts(Array(message)) { return true }
        return message.indices.contains { place in
            guard isBetween(message[place]), accepts(Array(message[..<place])) else { return false }
            let rest = message[place...].drop(while: isBetween)
            return rest.isEmpty || acceptsTexts(rest)
        }
    }
}
