import Bytes

/// Takes elements of other shards' cities out of a message before it is read, because reading is most of what an element
/// costs.
///
/// What is left is an array of the other elements as they came. Nothing is taken out that is not certainly valid JSON in
/// itself, so that what is left is valid exactly if the message is. Where a glance does not tell, the message is left to
/// the decoder as it is.
///
/// All this, and the reading of eight bytes at a time that it stands on, is for one number: a reading that is dropped costs
/// at most a third of one that is kept. simdjson alone takes that third.
///
/// Used from one thread at a time.
struct ShardFilter {
    private let shard: Shard
    private let cityField: [UInt8]
    private(set) var rest: [UInt8] = []
    private(set) var skippedCount = 0

    private var position = 0
    private var shape = ElementShape()
    /// Names with escapes replaced.
    private var unescaped: [UInt8] = []

    /// Deeper elements are left to the decoder.
    private static let maximumDepth = 8
    /// Room for more is given back.
    private static let keptCapacity = 1 << 20

    init(shard: Shard, cityField: String) {
        self.shard = shard
        self.cityField = Array(cityField.utf8)
    }

    /// - Returns: whether ``rest`` is to be read in the message's place, and ``skippedCount`` is true.
    mutating func apply(to message: Span<UInt8>) -> Bool {
        let isLarge = rest.capacity > Self.keptCapacity && message.count <= Self.keptCapacity
        rest.removeAll(keepingCapacity: !isLarge)
        skippedCount = 0
        position = 0
        skipBlanks(message)
        let isArray = skip("[", message)
        rest.append(UInt8(ascii: "["))
        if isArray {
            skipBlanks(message)
            if !skip("]", message) {
                guard skipElements(message) else { return false }
            }
        } else {
            guard next(message) == UInt8(ascii: "{"), skipElement(message) == true else { return false }
            skippedCount = 1
        }
        rest.append(UInt8(ascii: "]"))
        skipBlanks(message)
        return position == message.count
    }

    /// The elements of the array and its end.
    ///
    /// - Returns: false where a glance does not tell.
    private mutating func skipElements(_ message: Span<UInt8>) -> Bool {
        // What is kept is copied in runs as long as possible.
        var (keptStart, keptEnd) = (0, 0)
        while true {
            let start = position
            guard let isOthers = skipElement(message) else { return false }
            if isOthers {
                skippedCount &+= 1
                if keptStart < keptEnd { keep(message.extracting(keptStart..<keptEnd)) }
                (keptStart, keptEnd) = (position, position)
            } else {
                if keptStart == keptEnd { keptStart = start }
                keptEnd = position
            }
            skipBlanks(message)
            if skip(",", message) {
                skipBlanks(message)
                continue
            }
            keep(message.extracting(keptStart..<keptEnd))
            return skip("]", message)
        }
    }

    private mutating func keep(_ elements: Span<UInt8>) {
        guard !elements.isEmpty else { return }
        if rest.count > 1 { rest.append(UInt8(ascii: ",")) }
        rest.append(elements)
    }

    // MARK: Elements

    /// - Returns: whether its city is another shard's; nil where a glance does not tell.
    @inline(__always)
    private mutating func skipElement(_ message: Span<UInt8>) -> Bool? {
        if let (name, isPlain, end) = shape.match(message, at: position) {
            position = end
            return isPlain
                ? Self.isOthers(plain: message.extracting(name), than: shard) : isOthers(message.extracting(name))
        }
        return skipOddElement(message)
    }

    /// An element that is not spelled as the one before.
    @inline(never)
    private mutating func skipOddElement(_ message: Span<UInt8>) -> Bool? {
        shape.begin(at: position)
        guard skip("{", message) else { return skipValue(message, depth: 1) ? false : nil }
        skipBlanks(message)
        if skip("}", message) { return false }
        // Of a member that stands twice the last one counts.
        var (name, count) = (Range<Int>?.none, 0)
        while true {
            guard let key = skipKey(message), skipColon(message) else { return nil }
            if !bytesEqual(message.extracting(key), cityField.span) {
                guard skipValue(message, depth: 1) else { return nil }
            } else {
                count += 1
                name = skipText(message)
                if let name {
                    shape.add(.name, name)
                } else {
                    guard skipValue(message, depth: 1) else { return nil }
                }
            }
            skipBlanks(message)
            if skip("}", message) { break }
            guard skip(",", message) else { return nil }
            skipBlanks(message)
        }
        guard let name else { return false }
        if count == 1 { shape.end(at: position, in: message) }
        return isOthers(message.extracting(name))
    }

    /// - Parameter name: printable ASCII.
    @inline(__always)
    private static func isOthers(plain name: Span<UInt8>, than shard: Shard) -> Bool {
        guard name.count > 0, name.count <= CityName.maximumCount else { return false }
        if name[0] != 0x20, name[name.count - 1] != 0x20 { return !shard.contains(name) }
        return isOthers(text: name, than: shard)
    }

    private static func isOthers(text name: Span<UInt8>, than shard: Shard) -> Bool {
        guard let accepted = CityName.accepted(name, in: name.indices) else { return false }
        return !shard.contains(name.extracting(accepted))
    }

    /// - Parameter name: the text of a valid JSON string without half of a surrogate pair.
    @inline(never)
    private mutating func isOthers(_ name: Span<UInt8>) -> Bool {
        guard Self.hasEscapes(name) else { return Self.isOthers(text: name, than: shard) }
        unescaped.removeAll(keepingCapacity: true)
        var index = 0
        while index < name.count {
            let byte = name[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                unescaped.append(byte)
                continue
            }
            let escape = name[index]
            index += 1
            switch escape {
            case UInt8(ascii: "b"): unescaped.append(0x08)
            case UInt8(ascii: "f"): unescaped.append(0x0C)
            case UInt8(ascii: "n"): unescaped.append(0x0A)
            case UInt8(ascii: "r"): unescaped.append(0x0D)
            case UInt8(ascii: "t"): unescaped.append(0x09)
            case UInt8(ascii: "u"):
                var code: UInt32 = 0
                for digit in index..<index + 4 { code = code << 4 | UInt32(hexDigit(name[digit]) ?? 0) }
                index += 4
                guard let scalar = Unicode.Scalar(code) else { return false }
                unescaped.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: unescaped.append(escape)
            }
        }
        return Self.isOthers(text: unescaped.span, than: shard)
    }

    // MARK: JSON, as far as a glance tells

    private func next(_ message: Span<UInt8>) -> UInt8? {
        position < message.count ? message[position] : nil
    }

    private mutating func skip(_ character: Unicode.Scalar, _ message: Span<UInt8>) -> Bool {
        guard position < message.count, message[position] == UInt8(ascii: character) else { return false }
        position &+= 1
        return true
    }

    private mutating func skipBlanks(_ message: Span<UInt8>) {
        while position < message.count {
            let byte = message[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position &+= 1
        }
    }

    private mutating func skipColon(_ message: Span<UInt8>) -> Bool {
        skipBlanks(message)
        guard skip(":", message) else { return false }
        skipBlanks(message)
        return true
    }

    /// Skips a text of printable ASCII without escapes, and nothing else.
    ///
    /// - Returns: where it is, without the quotation marks.
    private mutating func skipPlainText(_ message: Span<UInt8>) -> Range<Int>? {
        guard next(message) == UInt8(ascii: "\"") else { return nil }
        let start = position &+ 1
        let end = plainTextEnd(message, from: start)
        guard end < message.count, message[end] == UInt8(ascii: "\"") else { return nil }
        position = end &+ 1
        return start..<end
    }

    /// - Returns: where it is, without the quotation marks; nil if it has escapes.
    private mutating func skipKey(_ message: Span<UInt8>) -> Range<Int>? {
        guard let key = skipText(message) else { return nil }
        return Self.hasEscapes(message.extracting(key)) ? nil : key
    }

    private static func hasEscapes(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where text[index] == UInt8(ascii: "\\") { return true }
        return false
    }

    /// Skips any text.
    ///
    /// - Returns: where it is, without the quotation marks.
    private mutating func skipText(_ message: Span<UInt8>) -> Range<Int>? {
        if let text = skipPlainText(message) { return text }
        guard next(message) == UInt8(ascii: "\""), let end = textEnd(message, from: position &+ 1) else { return nil }
        let start = position &+ 1
        position = end &+ 1
        return start..<end
    }

    private mutating func skipValue(_ message: Span<UInt8>, depth: Int) -> Bool {
        guard let byte = next(message) else { return false }
        switch byte {
        case UInt8(ascii: "\""):
            guard let text = skipText(message) else { return false }
            shape.add(.text, text)
            return true
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard let end = numberEnd(message, from: position) else { return false }
            shape.add(.number, position..<end)
            position = end
            return true
        default: return skipOther(message, depth: depth)
        }
    }

    @inline(never)
    private mutating func skipOther(_ message: Span<UInt8>, depth: Int) -> Bool {
        switch next(message) {
        case UInt8(ascii: "t"): return skip(word: "true", message)
        case UInt8(ascii: "f"): return skip(word: "false", message)
        case UInt8(ascii: "n"): return skip(word: "null", message)
        case UInt8(ascii: "["):
            return skipMembers(message, end: "]", depth: depth) { $0.skipValue($1, depth: depth + 1) }
        case UInt8(ascii: "{"):
            return skipMembers(message, end: "}", depth: depth) { filter, message in
                filter.skipText(message) != nil && filter.skipColon(message)
                    && filter.skipValue(message, depth: depth + 1)
            }
        default: return false
        }
    }

    private mutating func skip(word: String, _ message: Span<UInt8>) -> Bool {
        for byte in word.utf8 {
            guard next(message) == byte else { return false }
            position += 1
        }
        return true
    }

    private mutating func skipMembers(
        _ message: Span<UInt8>, end: Unicode.Scalar, depth: Int,
        _ skipMember: (inout ShardFilter, Span<UInt8>) -> Bool
    ) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        position += 1
        skipBlanks(message)
        if skip(end, message) { return true }
        while skipMember(&self, message) {
            skipBlanks(message)
            if skip(end, message) { return true }
            guard skip(",", message) else { return false }
            skipBlanks(message)
        }
        return false
    }
}
