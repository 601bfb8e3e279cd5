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
        while true {
            while let byte = next, isJSONBlank(byte) || byte == 0x1E { place += 1 }
            if next == nil, !texts.isEmpty { return texts }
            texts.append(try value(depth: 0))
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

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONMistake) {
        if !skip(character) { throw mistake(at: place) }
    }

    private mutating func value(depth: Int) throws(JSONMistake) -> JSONTree {
        guard depth < JSONTree.maximumDepth else { throw mistake(at: place) }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .text(try text())
        default: return try word()
        }
    }

    private mutating func object(depth: Int) throws(JSONMistake) -> JSONTree {
        place += 1
        var fields: [JSONField] = []
        skipBlanks()
        if skip("}") { return .object([]) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw mistake(at: place) }
            let name = try text()
            skipBlanks()
            try expect(":")
            skipBlanks()
            fields.append(JSONField(name, try value(depth: depth + 1)))
            skipBlanks()
            if skip("}") { return .object(fields) }
            try expect(",")
        }
    }

    private mutating func array(depth: Int) throws(JSONMistake) -> JSONTree {
        place += 1
        var elements: [JSONTree] = []
        skipBlanks()
        if skip("]") { return .array([]) }
        while true {
            skipBlanks()
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if skip("]") { return .array(elements) }
            try expect(",")
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
        let isTooLong = text.utf8.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") } && number.magnitude >= 0x1p64
        if isTooLong { throw mistake(at: start) }
        return .number(text)
    }

    private mutating func text() throws(JSONMistake) -> String {
        let start = place
        place += 1
        var content: [UInt8] = []
        var halves: [UInt16] = []
        func append(_ halves: inout [UInt16], to content: inout [UInt8]) -> Bool {
            if halves.isEmpty { return true }
            defer { halves = [] }
            guard let text = String(validating: halves, as: UTF16.self) else { return false }
            content += text.utf8
            return true
        }
        while let byte = next, byte >= 0x20 {
            place += 1
            if byte == UInt8(ascii: "\\"), let escaped = next {
                place += 1
                if escaped == UInt8(ascii: "u") {
                    guard place + 4 <= bytes.count,
                        let half = UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
                    else { throw mistake(at: place) }
                    place += 4
                    halves.append(half)
                    continue
                }
                guard let character = Self.escapes[escaped] else { throw mistake(at: place - 2) }
                guard append(&halves, to: &content) else { throw mistake(at: start) }
                content.append(character)
                continue
            }
            guard append(&halves, to: &content) else { throw mistake(at: start) }
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: content, as: UTF8.self) else { throw mistake(at: start) }
                return text
            }
            content.append(byte)
        }
        throw mistake(at: place)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
        UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
    ]
}
