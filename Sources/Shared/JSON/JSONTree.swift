internal import Bytes

/// A JSON value as a tree, for those who look at a message in order to explain it. Feeds are read by
/// ``JSONRecordReader``.
public indirect enum JSONTree: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// The number as it is written.
    case number(String)
    case text(String)
    case array([JSONTree])
    /// The fields in their order.
    case object([JSONField])
}

/// A field of an object.
public struct JSONField: Sendable, Equatable {
    public let name: String
    public let value: JSONTree

    public init(_ name: String, _ value: JSONTree) {
        self.name = name
        self.value = value
    }
}

/// The place where a message stops being JSON.
public struct JSONMistake: Error, Sendable, Equatable, CustomStringConvertible {
    /// Number of bytes before it.
    public let place: Int
    /// The first bytes there, on one line; empty at the end of the message.
    public let text: String

    public var description: String { text.isEmpty ? "ends too early, at byte \(place)" : "\(text) at byte \(place)" }
}

extension JSONTree {
    /// Nesting beyond this is a mistake.
    static let maximumDepth = 128

    /// Reads the JSON texts of a message, as ``JSONRecordReader`` separates them.
    public static func texts(of message: Span<UInt8>) throws(JSONMistake) -> [JSONTree] {
        var parser = JSONTreeParser(bytes: (0..<message.count).map { message[$0] })
        return try parser.texts()
    }

    /// Reads one JSON text that stands in another; `nil` for anything else.
    public init?(_ text: String) {
        var parser = JSONTreeParser(bytes: Array(text.utf8))
        guard let texts = try? parser.texts(), texts.count == 1 else { return nil }
        self = texts[0]
    }

    public subscript(name: String) -> JSONTree? {
        guard case .object(let fields) = self else { return nil }
        return fields.last { $0.name == name }?.value
    }
}

private struct JSONTreeParser {
    let bytes: [UInt8]
    var place = 0

    mutating func texts() throws(JSONMistake) -> [JSONTree] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        var texts: [JSONTree] = []
        func isSeparator(_ byte: UInt8) -> Bool { isJSONBlank(byte) || byte == 0x1E }
        while true {
            while let byte = next, isSeparator(byte) { place += 1 }
            if next == nil, !texts.isEmpty { return texts }
            texts.append(try value(depth: 0))
            if let byte = next, !isSeparator(byte) { throw mistake(at: place) }
        }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func mistake(at start: Int) -> JSONMistake {
        let shown = bytes[min(start, bytes.count)...].prefix(12).prefix { !isJSONBlank($0) && $0 != UInt8(ascii: ",") }
        let some = shown.isEmpty ? bytes[min(start, bytes.count)...].prefix(1) : shown
        return JSONMistake(place: start, text: onOneLine(String(decoding: some, as: UTF8.self)))
    }

    private mutating func skipBlanks() {
        while let byte = next, isJSONBlank(byte) { place += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONMistake) -> JSONTree {
        guard depth < JSONTree.maximumDepth else { throw mistake(at: place) }
        switch next {
        case UInt8(ascii: "{"):
            return .object(
                try elements(until: "}") { parser throws(JSONMistake) in
                    guard parser.next == UInt8(ascii: "\"") else { throw parser.mistake(at: parser.place) }
                    let name = try parser.text()
                    parser.skipBlanks()
                    guard parser.skip(":") else { throw parser.mistake(at: parser.place) }
                    parser.skipBlanks()
                    return JSONField(name, try parser.value(depth: depth + 1))
                })
        case UInt8(ascii: "["):
            return .array(
                try elements(until: "]") { parser throws(JSONMistake) in try parser.value(depth: depth + 1) })
        case UInt8(ascii: "\""): return .text(try text())
        default: return try word()
        }
    }

    /// Reads what stands between brackets, with commas between.
    private mutating func elements<Element>(
        until end: Unicode.Scalar, _ read: (inout JSONTreeParser) throws(JSONMistake) -> Element
    ) throws(JSONMistake) -> [Element] {
        place += 1
        skipBlanks()
        var elements: [Element] = []
        if skip(end) { return elements }
        while true {
            skipBlanks()
            elements.append(try read(&self))
            skipBlanks()
            if skip(end) { return elements }
            guard skip(",") else { throw mistake(at: place) }
        }
    }

    /// A number, or one of the three names.
    private mutating func word() throws(JSONMistake) -> JSONTree {
        let start = place
        while let byte = next, isDigit(byte) || "+-.".utf8.contains(byte) || (0x61...0x7A).contains(byte | 0x20) {
            place += 1
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        switch text {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        guard let number = jsonNumber(bytes[start..<place].span), number.isFinite else { throw mistake(at: start) }
        let isWhole = text.utf8.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
        if isWhole, Int64(text) == nil, UInt64(text) == nil { throw mistake(at: start) }
        return .number(text)
    }

    private mutating func text() throws(JSONMistake) -> String {
        let start = place
        place += 1
        var content: [UInt8] = []
        // Code units of escapes that follow each other: a character may take two.
        var units: [UInt16] = []
        while let byte = next, byte >= 0x20 {
            if let unit = try escapedUnit() {
                units.append(unit)
                continue
            }
            if !units.isEmpty {
                guard let escaped = String(validating: units, as: UTF16.self) else { throw mistake(at: start) }
                units = []
                content += escaped.utf8
            }
            place += 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: content, as: UTF8.self) else { throw mistake(at: start) }
                return text
            }
            content.append(byte)
        }
        throw mistake(at: place)
    }

    /// Reads an escape; `nil` where there is none.
    private mutating func escapedUnit() throws(JSONMistake) -> UInt16? {
        guard skip("\\") else { return nil }
        guard let character = next else { throw mistake(at: place) }
        if skip("u") {
            let digits = bytes[place...].prefix(4)
            let text = String(decoding: digits, as: UTF8.self)
            guard digits.count == 4, digits.allSatisfy({ hexDigit($0) != nil }), let unit = UInt16(text, radix: 16)
            else { throw mistake(at: place) }
            place += 4
            return unit
        }
        guard let unit = Self.escapes[character] else { throw mistake(at: place - 1) }
        place += 1
        return unit
    }

    /// Meanings of the characters behind a backslash.
    private static let escapes: [UInt8: UInt16] = [
        UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 8,
        UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
    ]
}
