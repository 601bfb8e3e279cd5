import Glibc

/// The short way through a message in the shape that feeds send: `[{"city":"Mumbai","aqi":183.2},…]`.
///
/// That is: an array of at least one object, the members asked for in the order asked for (trailing ones may be
/// missing) and no others, strings without escapes, one blank at most behind a colon or comma. Nothing is trusted:
/// what it accepts is valid JSON, and at the first byte that does not fit it gives up and ``StrictScanner`` decides.
enum CanonicalScanner {
    /// - Returns: the number of records, or nil when the message is not of this shape.
    static func scan(_ workspace: inout Workspace) -> Int? {
        let base = unsafe UnsafePointer(workspace.base)
        let end = unsafe base + workspace.messageCount
        let seed = workspace.hashSeed
        let keys = Keys(workspace.keys)
        guard unsafe base.pointee == UInt8(ascii: "[") else { return nil }
        var cursor = unsafe base + 1
        while true {
            guard unsafe cursor.pointee == UInt8(ascii: "{") else { return nil }
            unsafe cursor += 1
            let slots = unsafe workspace.appendRecord()
            var member = 0
            while true {
                guard unsafe keys.match(member, at: cursor) else { return nil }
                unsafe cursor += keys.count(member)
                if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
                if unsafe cursor.pointee == UInt8(ascii: "\"") {
                    let start = unsafe cursor + 1
                    guard let text = unsafe StringScanner.scan(start, seed: seed) else { return nil }
                    let count = unsafe text.end - start
                    let isPlain =
                        unsafe text.isPrintable && count > 0 && start.pointee != UInt8(ascii: " ")
                        && text.end[-1] != UInt8(ascii: " ")
                    unsafe slots[member] = Workspace.Slot(
                        tag: .text, isPlain: isPlain, hasLoneSurrogate: false,
                        count: UInt32(truncatingIfNeeded: count),
                        offset: UInt32(truncatingIfNeeded: start - base), bits: text.hash)
                    unsafe cursor = text.end + 1
                } else {
                    guard let number = unsafe NumberScanner.scan(cursor) else { return nil }
                    unsafe slots[member] = .number(number.value)
                    unsafe cursor = number.end
                }
                member &+= 1
                let byte = unsafe cursor.pointee
                unsafe cursor += 1
                if byte == UInt8(ascii: "}") { break }
                guard byte == UInt8(ascii: ","), member < keys.count else { return nil }
                if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
            }
            while member < keys.count {
                unsafe slots[member] = .absent
                member &+= 1
            }
            let byte = unsafe cursor.pointee
            unsafe cursor += 1
            if byte == UInt8(ascii: "]") { break }
            guard byte == UInt8(ascii: ",") else { return nil }
            if unsafe cursor.pointee == UInt8(ascii: " ") { unsafe cursor += 1 }
        }
        return unsafe cursor == end ? workspace.recordCount : nil
    }

    /// `"name":` of up to four members, compared eight bytes at a time.
    private struct Keys {
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        private var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        private let keys: [[UInt8]]
        let count: Int

        init(_ keys: [[UInt8]]) {
            self.keys = keys
            count = keys.count
            for (member, key) in keys.enumerated() {
                var word: UInt64 = 0
                var mask: UInt64 = 0
                for (index, byte) in key.prefix(8).enumerated() {
                    word |= UInt64(byte) << UInt64(index * 8)
                    mask |= 0xFF << UInt64(index * 8)
                }
                switch member {
                case 0: (words.0, masks.0) = (word, mask)
                case 1: (words.1, masks.1) = (word, mask)
                case 2: (words.2, masks.2) = (word, mask)
                default: (words.3, masks.3) = (word, mask)
                }
            }
        }

        func count(_ member: Int) -> Int { keys[member].count }

        @inline(__always) @unsafe
        func match(_ member: Int, at cursor: UnsafePointer<UInt8>) -> Bool {
            let word = unsafe UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            let isFirstEqual =
                switch member {
                case 0: word & masks.0 == words.0
                case 1: word & masks.1 == words.1
                case 2: word & masks.2 == words.2
                default: word & masks.3 == words.3
                }
            guard isFirstEqual else { return false }
            let key = keys[member]
            guard key.count > 8 else { return true }
            // strncmp stops at the NUL behind the message, so it reads no further than that.
            return unsafe key.withUnsafeBufferPointer { key in
                guard let start = key.baseAddress else { return false }
                return unsafe strncmp(
                    UnsafeRawPointer(cursor).assumingMemoryBound(to: CChar.self),
                    UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), key.count) == 0
            }
        }
    }
}
