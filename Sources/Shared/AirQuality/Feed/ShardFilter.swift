import Bytes
import JSON

/// Removes the elements of other shards' cities from a message before it is parsed, because parsing is most of the cost
/// of an element.
///
/// The result is an array of the remaining elements, byte for byte. An element is removed only if it is certainly valid
/// JSON by itself, so the result is valid if and only if the message is. If this quick scan is not certain about an
/// element, the whole message goes to the decoder unchanged.
///
/// This type, and the scanning of eight bytes at a time that it uses, exist for one requirement: dropping a reading
/// must cost at most a third of keeping it. simdjson alone would take that third.
///
/// Used from one thread at a time.
struct ShardFilter {
    private let shard: Shard
    private let cityField: [UInt8]
    private(set) var rest: [UInt8] = []
    private(set) var skippedCount = 0

    private var position = 0
    private var shape = ElementShape()
    /// A name with escapes replaced.
    private var unescaped = [UInt8](repeating: 0, count: Self.maximumEscaped)

    /// Longer names with escapes are left to the decoder, and so are deeper elements.
    private static let maximumEscaped = 1024
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
        guard JSONRecordReader.isUTF8(message) else { return false }
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

    /// Scans the elements of the array and its closing bracket.
    ///
    /// - Returns: false if the quick scan is not certain.
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
            if !skip(",", message) {
                skipBlanks(message)
                guard skip(",", message) else { break }
            }
            skipBlanks(message)
        }
        keep(message.extracting(keptStart..<keptEnd))
        return skip("]", message)
    }

    private mutating func keep(_ elements: Span<UInt8>) {
        guard !elements.isEmpty else { return }
        if rest.count > 1 { rest.append(UInt8(ascii: ",")) }
        rest.append(elements)
    }

    // MARK: Elements

    /// - Returns: whether the city belongs to another shard; nil if the quick scan is not certain.
    @inline(__always)
    private mutating func skipElement(_ message: Span<UInt8>) -> Bool? {
        if let (name, spelling, end) = shape.match(message, at: position) {
            position = end
            return isOthers(message.extracting(name), spelling)
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
        // Of a member that is given twice the last one counts.
        var (name, spelling, count) = (Range<Int>?.none, TextSpelling.plain, 0)
        while true {
            guard let key = skipKey(message), skipColon(message) else { return nil }
            if !bytesEqual(message.extracting(key), cityField.span) {
                guard skipValue(message, depth: 1) else { return nil }
            } else {
                count += 1
                if let text = skipText(message) {
                    (name, spelling) = text
                    shape.add(.name, text.range)
                } else {
                    name = nil
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
        return isOthers(message.extracting(name), spelling)
    }

    /// - Returns: nil if the quick scan is not certain.
    @inline(__always)
    private mutating func isOthers(_ name: Span<UInt8>, _ spelling: TextSpelling) -> Bool? {
        switch spelling {
        case .plain: Self.isOthers(plain: name, than: shard)
        case .unescaped: Self.isOthers(text: name, than: shard)
        case .escaped: isOthers(escaped: name)
        }
    }

    /// - Parameter name: printable ASCII.
    @inline(__always)
    private static func isOthers(plain name: Span<UInt8>, than shard: Shard) -> Bool {
        // Nothing to trim and nothing to refuse.
        if 1...CityName.maximumCount ~= name.count, name[0] != 0x20, name[name.count - 1] != 0x20 {
            return !shard.contains(name)
        }
        return isOthers(text: name, than: shard)
    }

    private static func isOthers(text name: Span<UInt8>, than shard: Shard) -> Bool {
        guard let accepted = CityName.accepted(name, in: name.indices) else { return false }
        return !shard.contains(name.extracting(accepted))
    }

    /// - Parameter name: the text of a valid JSON string.
    @inline(never)
    private mutating func isOthers(escaped name: Span<UInt8>) -> Bool? {
        guard name.count <= Self.maximumEscaped else { return nil }
        // No escape is shorter than what it stands for.
        var unescaped = self.unescaped.mutableSpan
        var (index, count) = (0, 0)
        while index < name.count {
            var byte = name[index]
            index &+= 1
            if byte == UInt8(ascii: "\\") {
                byte = name[index]
                index &+= 1
                switch byte {
                case UInt8(ascii: "b"): byte = 0x08
                case UInt8(ascii: "f"): byte = 0x0C
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "t"): byte = 0x09
                case UInt8(ascii: "u"):
                    guard let unit = codeUnit(name, at: index) else { return nil }
                    index &+= 4
                    var code = UInt32(unit)
                    if UTF16.isLeadSurrogate(unit), let trail = codeUnit(name, at: index &+ 2) {
                        index &+= 6
                        code = 0x10000 + (code & 0x3FF) << 10 | UInt32(trail & 0x3FF)
                    }
                    guard let scalar = Unicode.Scalar(code) else { return nil }
                    for byte in scalar.utf8 {
                        unescaped[count] = byte
                        count &+= 1
                    }
                    continue
                default: break
                }
            }
            unescaped[count] = byte
            count &+= 1
        }
        return Self.isOthers(text: self.unescaped.span.extracting(first: count), than: shard)
    }

    // MARK: JSON, as far as the quick scan checks it

    private func next(_ message: Span<UInt8>) -> UInt8? {
        position < message.count ? message[position] : nil
    }

    private mutating func skip(_ character: Unicode.Scalar, _ message: Span<UInt8>) -> Bool {
        guard position < message.count, message[position] == UInt8(ascii: character) else { return false }
        position &+= 1
        return true
    }

    private mutating func skipBlanks(_ message: Span<UInt8>) {
        while position < message.count, isJSONBlank(message[position]) { position &+= 1 }
    }

    private mutating func skipColon(_ message: Span<UInt8>) -> Bool {
        skipBlanks(message)
        guard skip(":", message) else { return false }
        skipBlanks(message)
        return true
    }

    /// - Returns: where it is, without the quotation marks; nil if it has escapes.
    private mutating func skipKey(_ message: Span<UInt8>) -> Range<Int>? {
        guard let (key, spelling) = skipText(message), spelling != .escaped else { return nil }
        return key
    }

    /// - Returns: where the text is, without the quotation marks.
    private mutating func skipText(_ message: Span<UInt8>) -> (range: Range<Int>, TextSpelling)? {
        let start = position &+ 1
        guard next(message) == UInt8(ascii: "\""), let (end, spelling) = textEnd(message, from: start) else {
            return nil
        }
        position = end &+ 1
        return (start..<end, spelling)
    }

    private mutating func skipValue(_ message: Span<UInt8>, depth: Int) -> Bool {
        guard let byte = next(message) else { return false }
        switch byte {
        case UInt8(ascii: "\""):
            guard let (text, _) = skipText(message) else { return false }
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
