internal import Bytes

/// The elements of a message's array in turn, as the bytes of the message.
///
/// They are those that a ``JSONRecordReader`` without a pointer gives as records, in the same order; one object counts as
/// an array of one. Only for a message that such a reader has read: nothing is checked here again.
public struct JSONElements {
    private var position = 0
    private var isInArray = false

    /// - Parameter message: valid JSON, an array or an object.
    public init(of message: Span<UInt8>) {
        while position < message.count, message[position] != UInt8(ascii: "["), message[position] != UInt8(ascii: "{") {
            position += 1
        }
        guard position < message.count, message[position] == UInt8(ascii: "[") else { return }
        isInArray = true
        position += 1
    }

    /// Range of the next one, without the blanks around it; nil at the end.
    /// - Parameter message: the same as before.
    public mutating func next(in message: Span<UInt8>) -> Range<Int>? {
        while position < message.count, Self.isBetween(message[position]) { position += 1 }
        guard position < message.count, message[position] != UInt8(ascii: "]") else { return nil }
        let start = position
        var depth = 0
        scan: while position < message.count {
            switch message[position] {
            case UInt8(ascii: "\""):
                skipText(message)
                if depth == 0 { break scan }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                // The end of the array, behind a number or a word.
                if depth == 0 { break scan }
                depth -= 1
                if depth == 0 {
                    position += 1
                    break scan
                }
            case let byte where depth == 0 && Self.isBetween(byte): break scan
            default: break
            }
            position += 1
        }
        let range = start..<position
        if !isInArray { position = message.count }
        return range
    }

    /// From the quotation mark that begins a text to behind the one that ends it.
    private mutating func skipText(_ message: Span<UInt8>) {
        position += 1
        while position < message.count, message[position] != UInt8(ascii: "\"") {
            position += message[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
    }

    private static func isBetween(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || isJSONBlank(byte) }
}
