/// All of RFC 8259, in one pass over the message.
///
/// Every byte is checked, that of members nobody asked for as well.
@safe
struct StrictScanner: ~Copyable {
    /// Why the scan ended early: the message is no JSON.
    private struct NotJSON: Error {}

    private let base: UnsafePointer<UInt8>
    private let end: Int
    private var position = 0
    /// The last value found at the place of the items: records, or something that is neither array nor object.
    private var outcome: JSONRecordReader.Outcome = .notAnArray

    static func scan(_ workspace: inout Workspace, items: JSONPointer) -> JSONRecordReader.Outcome {
        workspace.forgetRecords()
        // What the canonical scanner unescaped before it gave up needs its room again.
        workspace.truncate(to: workspace.messageCount + Workspace.padding)
        var scanner = unsafe StrictScanner(base: workspace.base, end: workspace.messageCount)
        do throws(NotJSON) {
            scanner.skipWhiteSpace()
            try scanner.value(path: items.tokens[...], depth: 0, &workspace)
            scanner.skipWhiteSpace()
            return scanner.position == scanner.end ? scanner.outcome : .notJSON
        } catch {
            return .notJSON
        }
    }

    private init(base: UnsafeMutablePointer<UInt8>, end: Int) {
        unsafe self.base = UnsafePointer(base)
        self.end = end
    }

    /// The byte at the position; NUL, which JSON has nowhere, at the end.
    private var byte: UInt8 {
        unsafe base[position]
    }

    private mutating func skipWhiteSpace() {
        while isWhiteSpace(byte) { position += 1 }
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(NotJSON) {
        guard byte == UInt8(ascii: character) else { throw NotJSON() }
        position += 1
    }

    /// A value on the way to the items, or the items themselves when nothing is left of the path.
    private mutating func value(
        path: ArraySlice<[UInt8]>, depth: Int, _ workspace: inout Workspace
    ) throws(NotJSON) {
        guard let token = path.first else { return try itemsValue(depth: depth, &workspace) }
        guard depth < JSONRecordReader.maximumDepth else { throw NotJSON() }
        switch byte {
        case UInt8(ascii: "{"):
            try members(&workspace) { (scanner, name, workspace) throws(NotJSON) in
                if scanner.equals(name, token, workspace) {
                    // A member that stands twice: the last one counts, whatever the first one held.
                    workspace.forgetRecords()
                    scanner.outcome = .notAnArray
                    try scanner.value(path: path.dropFirst(), depth: depth + 1, &workspace)
                } else {
                    try scanner.skipValue(depth: depth + 1)
                }
            }
        case UInt8(ascii: "["):
            let wanted = Self.arrayIndex(token)
            var index = 0
            try elements { (scanner) throws(NotJSON) in
                if index == wanted {
                    try scanner.value(path: path.dropFirst(), depth: depth + 1, &workspace)
                } else {
                    try scanner.skipValue(depth: depth + 1)
                }
                index += 1
            }
        default:
            try skipValue(depth: depth)
        }
    }

    /// RFC 6901 section 4: digits without a leading zero.
    private static func arrayIndex(_ token: [UInt8]) -> Int? {
        guard token.count == 1 || token.first != UInt8(ascii: "0"), !token.isEmpty,
            token.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(String(decoding: token, as: UTF8.self))
    }

    private mutating func itemsValue(depth: Int, _ workspace: inout Workspace) throws(NotJSON) {
        switch byte {
        case UInt8(ascii: "["):
            guard depth < JSONRecordReader.maximumDepth else { throw NotJSON() }
            try elements { (scanner) throws(NotJSON) in
                try scanner.record(depth: depth + 1, &workspace)
            }
            outcome = .records(workspace.recordCount)
        case UInt8(ascii: "{"):
            try record(depth: depth, &workspace)
            outcome = .records(workspace.recordCount)
        default:
            try skipValue(depth: depth)
            outcome = .notAnArray
        }
    }

    private mutating func record(depth: Int, _ workspace: inout Workspace) throws(NotJSON) {
        let slots = unsafe workspace.appendRecord()
        for member in workspace.members.indices { unsafe slots[member] = .absent }
        let record = workspace.recordCount - 1
        guard byte == UInt8(ascii: "{") else {
            workspace.markNotObject(record: record)
            return try skipValue(depth: depth)
        }
        guard depth < JSONRecordReader.maximumDepth else { throw NotJSON() }
        try members(&workspace) { (scanner, name, workspace) throws(NotJSON) in
            let member = workspace.members.indices.first { scanner.equals(name, workspace.members[$0], workspace) }
            // What the name unescaped to is not needed any more.
            if name.isUnescaped { workspace.truncate(to: name.offset) }
            if let member {
                let slot = try scanner.slot(depth: depth + 1, &workspace)
                unsafe workspace.slots[record * workspace.members.count + member] = slot
            } else {
                try scanner.skipValue(depth: depth + 1)
            }
        }
    }

    private mutating func slot(depth: Int, _ workspace: inout Workspace) throws(NotJSON) -> Workspace.Slot {
        switch byte {
        case UInt8(ascii: "\""):
            let text = try string(&workspace)
            return workspace.textSlot(text)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number())
        case UInt8(ascii: "n"):
            try literal("null")
            var slot = Workspace.Slot.absent
            slot.tag = .null
            return slot
        default:
            try skipValue(depth: depth)
            var slot = Workspace.Slot.absent
            slot.tag = .other
            return slot
        }
    }

    // MARK: Values

    private mutating func skipValue(depth: Int) throws(NotJSON) {
        switch byte {
        case UInt8(ascii: "{"):
            guard depth < JSONRecordReader.maximumDepth else { throw NotJSON() }
            position += 1
            skipWhiteSpace()
            if byte == UInt8(ascii: "}") {
                position += 1
                return
            }
            while true {
                try skipString()
                skipWhiteSpace()
                try expect(":")
                skipWhiteSpace()
                try skipValue(depth: depth + 1)
                skipWhiteSpace()
                if byte == UInt8(ascii: "}") {
                    position += 1
                    return
                }
                try expect(",")
                skipWhiteSpace()
            }
        case UInt8(ascii: "["):
            guard depth < JSONRecordReader.maximumDepth else { throw NotJSON() }
            try elements { (scanner) throws(NotJSON) in try scanner.skipValue(depth: depth + 1) }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: _ = try number()
        }
    }

    private mutating func elements(_ body: (inout StrictScanner) throws(NotJSON) -> Void) throws(NotJSON) {
        try expect("[")
        skipWhiteSpace()
        if byte == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try body(&self)
            skipWhiteSpace()
            if byte == UInt8(ascii: "]") {
                position += 1
                return
            }
            try expect(",")
            skipWhiteSpace()
        }
    }

    private mutating func members(
        _ workspace: inout Workspace,
        _ body: (inout StrictScanner, Text, inout Workspace) throws(NotJSON) -> Void
    ) throws(NotJSON) {
        try expect("{")
        skipWhiteSpace()
        if byte == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            let name = try string(&workspace)
            skipWhiteSpace()
            try expect(":")
            skipWhiteSpace()
            try body(&self, name, &workspace)
            skipWhiteSpace()
            if byte == UInt8(ascii: "}") {
                position += 1
                return
            }
            try expect(",")
            skipWhiteSpace()
        }
    }

    private mutating func number() throws(NotJSON) -> Double {
        guard position < end, let number = unsafe NumberScanner.scan(base + position) else { throw NotJSON() }
        unsafe position = number.end - base
        return unsafe number.value
    }

    private mutating func literal(_ text: StaticString) throws(NotJSON) {
        for index in 0..<text.utf8CodeUnitCount {
            guard unsafe byte == text.utf8Start[index] else { throw NotJSON() }
            position += 1
        }
    }

    // MARK: Strings

    /// Where a string's bytes are: in the message, or unescaped behind it.
    struct Text {
        var offset: Int
        var count: Int
        var isUnescaped: Bool
        var hasLoneSurrogate: Bool
    }

    private func equals(_ name: Text, _ wanted: [UInt8], _ workspace: borrowing Workspace) -> Bool {
        guard name.count == wanted.count, !name.hasLoneSurrogate else { return false }
        for index in 0..<name.count where unsafe base[name.offset + index] != wanted[index] { return false }
        return true
    }

    private mutating func skipString() throws(NotJSON) {
        try expect("\"")
        while true {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): _ = try escape()
            default: try character()
            }
        }
    }

    /// Steps over one unescaped character, which must be well-formed UTF-8 and no control character.
    private mutating func character() throws(NotJSON) {
        guard byte >= 0x20 else { throw NotJSON() }
        let count = unsafe StringScanner.utf8SequenceCount(base + position)
        guard count > 0 else { throw NotJSON() }
        position += count
    }

    private mutating func string(_ workspace: inout Workspace) throws(NotJSON) -> Text {
        try expect("\"")
        let start = position
        while byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { return try unescapedString(from: start, &workspace) }
            try character()
        }
        position += 1
        return Text(offset: start, count: position - 1 - start, isUnescaped: false, hasLoneSurrogate: false)
    }

    /// Reads a string that has escapes in it.
    ///
    /// - Parameter start: behind the opening quote.
    /// - Returns: the text behind the message, and where the string ends, behind its closing quote; nil when it is none.
    static func unescaped(from start: Int, _ workspace: inout Workspace) -> (text: Text, end: Int)? {
        var scanner = unsafe StrictScanner(base: workspace.base, end: workspace.messageCount)
        scanner.position = start - 1
        guard let text = try? scanner.string(&workspace) else { return nil }
        return (text, scanner.position)
    }

    private mutating func unescapedString(
        from start: Int, _ workspace: inout Workspace
    ) throws(NotJSON) -> Text {
        let offset = workspace.usedCount
        var hasLoneSurrogate = false
        position = start
        while true {
            let word = unsafe StringScanner.word(base + position)
            let flags = StringScanner.stops(word)
            let count = flags == 0 ? 8 : flags.trailingZeroBitCount / 8
            workspace.append(word, count: count)
            position += count
            if flags == 0 { continue }
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\") else { throw NotJSON() }
            if let scalar = try escape() {
                for byte in Unicode.UTF8.encode(scalar) ?? .init() { workspace.append(byte) }
            } else {
                hasLoneSurrogate = true
                for byte in Unicode.UTF8.encodedReplacementCharacter { workspace.append(byte) }
            }
        }
        // Escapes give whole characters, so that all is well-formed when what stood between them was.
        let text = unsafe UnsafePointer(workspace.base)
        guard unsafe StringScanner.hasControl(text + offset, end: text + workspace.usedCount) != nil else {
            throw NotJSON()
        }
        position += 1
        return Text(
            offset: offset, count: workspace.usedCount - offset, isUnescaped: true, hasLoneSurrogate: hasLoneSurrogate)
    }

    /// - Returns: nil for a surrogate without its other half, which the grammar allows and Unicode does not.
    private mutating func escape() throws(NotJSON) -> Unicode.Scalar? {
        try expect("\\")
        let kind = byte
        position += 1
        switch kind {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try hexadecimal()
            guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
            let behind = position
            guard byte == UInt8(ascii: "\\") else { return nil }
            position += 1
            guard byte == UInt8(ascii: "u") else {
                position = behind
                return nil
            }
            position += 1
            let trail = try hexadecimal()
            guard UTF16.isTrailSurrogate(trail) else {
                // The next escape is a character of its own.
                position = behind
                return nil
            }
            return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(trail) - 0xDC00))
        default: throw NotJSON()
        }
    }

    private mutating func hexadecimal() throws(NotJSON) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let zero =
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(ascii: "0")
                case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt8(ascii: "A") - 10
                case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt8(ascii: "a") - 10
                default: throw NotJSON()
                }
            unit = unit << 4 | UInt16(byte - zero)
            position += 1
        }
        return unit
    }
}

extension Workspace {
    func textSlot(_ text: StrictScanner.Text) -> Slot {
        let start = unsafe UnsafePointer(base) + text.offset
        let bytes = unsafe UnsafeBufferPointer(start: start, count: text.count)
        let isPlain =
            unsafe StringScanner.hasControl(start, end: start + text.count) == false
            && isTrimmed(start, count: text.count)
        return unsafe Slot(
            tag: .text, isPlain: isPlain, hasLoneSurrogate: text.hasLoneSurrogate, count: UInt32(text.count),
            offset: UInt32(text.offset), bits: ByteHash.hash(bytes, seed: hashSeed))
    }
}

/// Whether a text has one byte at least and no blank at either end.
@inline(__always) @unsafe
func isTrimmed(_ start: UnsafePointer<UInt8>, count: Int) -> Bool {
    unsafe count > 0 && start[0] != UInt8(ascii: " ") && start[count &- 1] != UInt8(ascii: " ")
}
