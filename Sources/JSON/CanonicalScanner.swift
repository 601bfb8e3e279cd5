/// A record that is a text and a number, as nearly all are.
@frozen
public struct JSONPair: Sendable {
    /// Place and length of the text in the bytes that are lent with it.
    public var offset: UInt32
    public var count: UInt32
    /// Of the text, by ``ByteHash`` with the reader's seed.
    public var hash: UInt64
    public var number: Double
    /// The text has no control character (C0, DEL, C1), one byte at least, and no blank at either end.
    public var isPlain: Bool
}

/// The short way through a message in the shape that feeds send: `[{"city":"Mumbai","aqi":183.2},…]`.
///
/// That is: an array of at least one object, in each the two members asked for, in the order asked for, a text and a
/// number; one blank at most behind a colon or comma. Nothing is trusted: what it accepts is valid JSON,
/// and at the first byte that does not fit it gives up and ``StrictScanner`` decides.
enum CanonicalScanner {
    /// - Returns: whether the message is of this shape; its pairs are in the workspace then.
    static func scan(_ workspace: inout Workspace, keys: borrowing MemberKeys, seed: UInt64) -> Bool {
        let base = unsafe UnsafePointer(workspace.base)
        let end = unsafe base + workspace.messageCount
        // Each pair takes more bytes than this of the message, so there is room for all of them.
        var pair = unsafe workspace.roomForPairs(workspace.messageCount / Workspace.shortestPairCount + 1)
        let first = unsafe pair
        guard unsafe base.pointee == UInt8(ascii: "[") else { return false }
        var cursor = unsafe base + 1
        while true {
            guard unsafe cursor.pointee == UInt8(ascii: "{"), unsafe keys.match(0, at: cursor + 1) else { return false }
            unsafe cursor += 1 &+ keys.count(0)
            if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
            guard unsafe cursor.pointee == UInt8(ascii: "\"") else { return false }
            let start = unsafe cursor + 1
            let name: Workspace.Slot
            if let text = unsafe StringScanner.scan(start, seed: seed) {
                let count = unsafe text.end - start
                name = unsafe Workspace.Slot(
                    tag: .text, isPlain: !text.hasControl && isTrimmed(start, count: count), hasLoneSurrogate: false,
                    count: UInt32(truncatingIfNeeded: count), offset: UInt32(truncatingIfNeeded: start - base),
                    bits: text.hash)
                unsafe cursor = text.end + 1
            } else {
                // An escape, most likely: the text goes behind the message, where there is room for it.
                guard let unescaped = unsafe StrictScanner.unescaped(from: start - base, &workspace) else {
                    return false
                }
                name = workspace.textSlot(unescaped.text)
                guard !name.hasLoneSurrogate else { return false }
                unsafe cursor = base + unescaped.end
            }
            guard unsafe cursor.pointee == UInt8(ascii: ",") else { return false }
            unsafe cursor += 1
            if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
            guard unsafe keys.match(1, at: cursor) else { return false }
            unsafe cursor += keys.count(1)
            if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
            guard let number = unsafe NumberScanner.scan(cursor) else { return false }
            unsafe pair.initialize(
                to: JSONPair(
                    offset: name.offset, count: name.count, hash: name.bits, number: number.value,
                    isPlain: name.isPlain))
            unsafe pair += 1
            unsafe cursor = number.end
            guard unsafe cursor.pointee == UInt8(ascii: "}") else { return false }
            let byte = unsafe cursor[1]
            unsafe cursor += 2
            if byte == UInt8(ascii: "]") { break }
            guard byte == UInt8(ascii: ",") else { return false }
            if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
        }
        guard unsafe cursor == end else { return false }
        unsafe workspace.setPairCount(pair - first)
        return true
    }
}
