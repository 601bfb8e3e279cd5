internal import Bytes
internal import CSimdJSON

/// A reader of messages whose values are then found by their positions.
///
/// simdjson checks the whole message against RFC 8259, including UTF-8, before any value is available: a message is
/// either read or rejected. JSON texts separated by white space or U+001E form one message; a byte order mark is
/// skipped. Numbers that no double can hold, integers beyond 64 bits, unpaired surrogates and nesting beyond the
/// maximum depth are rejected.
///
/// ```swift
/// var reader = JSONReader()
/// if let texts = reader.read(message), let city = reader.find([Array("city".utf8)], in: texts.lowerBound) {
///     print(reader.value(at: city))
/// }
/// ```
///
/// Not thread-safe. A position belongs to the last message read; any other position gives another value, or traps.
@safe
public struct JSONReader: ~Copyable {
    /// Default nesting limit, which RFC 8259 section 9 allows; deeper messages are rejected as invalid JSON. The
    /// limit is one lower in a sequence of texts, and one higher for an innermost empty array or object.
    public static let maximumDepth = 512

    private let parser: OpaquePointer
    /// The last message as simdjson's tape and texts, owned by the parser; empty if there is none.
    @usableFromInline var tape = unsafe UnsafeBufferPointer<UInt64>(start: nil, count: 0)
    @usableFromInline var textBytes = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    public init(maximumDepth: Int = JSONReader.maximumDepth) { unsafe parser = CSimdJSON_make(maximumDepth) }

    deinit { unsafe CSimdJSON_free(parser) }

    /// Reads a message of at most 1 GiB. Invalidates all positions of the previous message.
    ///
    /// - Returns: the positions of its JSON texts, at least one; `nil` if it is not valid JSON.
    public mutating func read(_ message: Span<UInt8>) -> Range<Int>? {
        // A byte order mark may be ignored (RFC 8259, section 8.1). simdjson 3.12 accepts one, 3.0 does not.
        let text = hasByteOrderMark(message) ? message.extracting(3...) : message
        var document = unsafe CSimdJSON_document()
        let isJSON = unsafe text.withUnsafeBufferPointer {
            unsafe CSimdJSON_read(parser, $0.baseAddress, $0.count, &document)
        }
        guard isJSON else {
            forget()
            return nil
        }
        unsafe tape = UnsafeBufferPointer(start: document.tape, count: document.tapeCount)
        unsafe textBytes = UnsafeBufferPointer(start: document.texts, count: document.textsCount)
        if unsafe !document.isOneText, case .array(let texts) = value(at: 1) { return texts }
        return 1..<next(after: 1)
    }

    /// Forgets the message, and frees the memory of a long one: about 15 times its size.
    public mutating func forget() {
        unsafe tape = UnsafeBufferPointer(start: nil, count: 0)
        unsafe textBytes = UnsafeBufferPointer(start: nil, count: 0)
        unsafe CSimdJSON_shrink(parser)
    }

    /// A copy of the bytes that texts are ranges of.
    public var texts: [UInt8] { unsafe Array(textBytes) }

    /// Appends the bytes that texts are ranges of.
    public func appendTexts(to bytes: inout [UInt8]) { unsafe bytes.append(contentsOf: textBytes) }

    @inline(__always)
    public func withTexts(_ body: (Span<UInt8>) -> Void) { unsafe body(textBytes.span) }

    @inlinable @inline(__always)
    public func value(at position: Int) -> JSONValue {
        switch kind(at: position) {
        case Kind.object: .object(position + 1..<end(of: position) - 1)
        case Kind.array: .array(position + 1..<end(of: position) - 1)
        case Kind.text: .text(text(at: position))
        case Kind.double: .number(Double(bitPattern: word(at: position + 1)))
        case Kind.integer: .number(Double(Int64(bitPattern: word(at: position + 1))))
        case Kind.unsigned: .number(Double(word(at: position + 1)))
        case Kind.null: .null
        case let kind: .boolean(kind == Kind.isTrue)
        }
    }

    /// Returns the position of the next value, or the end of the enclosing array or object if this is the last one.
    @inlinable @inline(__always)
    public func next(after position: Int) -> Int {
        switch kind(at: position) {
        case Kind.object, Kind.array: end(of: position)
        case Kind.double, Kind.integer, Kind.unsigned: position + 2
        default: position + 1
        }
    }

    /// Returns the position to which a path of reference tokens (RFC 6901) leads from a value. If a field occurs twice,
    /// the last one counts, as in JavaScript.
    @inlinable @inline(__always)
    public func find(_ path: [[UInt8]], in position: Int) -> Int? { find(path, from: 0, in: position) }

    /// - Parameter first: index of the first token to follow.
    @inlinable @inline(__always)
    func find(_ path: [[UInt8]], from first: Int, in position: Int) -> Int? {
        let path = path.span
        var position = position
        for step in first..<path.count {
            let found =
                switch kind(at: position) {
                case Kind.object: field(path[step].span, of: position)
                case Kind.array: element(path[step], of: position)
                default: Int?.none
                }
            guard let found else { return nil }
            position = found
        }
        return position
    }

    /// Finds two paths, in one pass if both are field names of an object, as they nearly always are.
    ///
    /// - Returns: also whether there may be anything beside the two.
    @inlinable @inline(__always)
    public func find(
        _ one: [[UInt8]], _ other: [[UInt8]], in position: Int
    ) -> (one: Int?, other: Int?, hasMore: Bool) {
        guard one.count == 1, other.count == 1, kind(at: position) == Kind.object else {
            return (find(one, in: position), find(other, in: position), true)
        }
        let one = one.span
        let other = other.span
        let end = end(of: position) - 1
        var found: (one: Int?, other: Int?)
        var memberCount = 0
        var name = position + 1
        while name < end {
            if isText(one[0].span, at: name) { found.one = name + 1 }
            if isText(other[0].span, at: name) { found.other = name + 1 }
            memberCount &+= 1
            name = next(after: name + 1)
        }
        return (found.one, found.other, memberCount > (found.other == nil ? 1 : 2))
    }

    /// Finds four paths, in one pass if the value is an object; an empty path leads nowhere.
    @inlinable @inline(__always)
    public func find(_ paths: InlineArray<4, [[UInt8]]>, in position: Int) -> InlineArray<4, Int?> {
        var found = InlineArray<4, Int?>(repeating: nil)
        guard kind(at: position) == Kind.object else {
            for index in paths.indices where !paths[index].isEmpty { found[index] = find(paths[index], in: position) }
            return found
        }
        let paths = paths.span
        let end = end(of: position) - 1
        var name = position + 1
        while name < end {
            let count = text(at: name).count
            for index in paths.indices {
                let path = paths[index].span
                guard !path.isEmpty, path[0].count == count else { continue }
                if isText(path[0].span, at: name) { found[index] = name + 1 }
            }
            name = next(after: name + 1)
        }
        for index in paths.indices where paths[index].count > 1 {
            found[index] = found[index].flatMap { find(paths[index], from: 1, in: $0) }
        }
        return found
    }

    @inlinable @inline(__always)
    func field(_ name: Span<UInt8>, of object: Int) -> Int? {
        let end = end(of: object) - 1
        var found: Int?
        var position = object + 1
        while position < end {
            if isText(name, at: position) { found = position + 1 }
            position = next(after: position + 1)
        }
        return found
    }

    /// Finds an element by an array index of RFC 6901 section 4: digits without a leading zero.
    @usableFromInline
    func element(_ token: [UInt8], of array: Int) -> Int? {
        guard var left: Int = decimalNumber(token), token.count == 1 || token[0] != UInt8(ascii: "0") else {
            return nil
        }
        let end = end(of: array) - 1
        var position = array + 1
        while position < end, left > 0 {
            position = next(after: position)
            left -= 1
        }
        return position < end ? position : nil
    }

    /// Returns the sign and digits of a whole number; `nil` for any other value, and doubles of 10¹⁵ or more.
    public func wholeNumber(at position: Int) -> [UInt8]? {
        switch kind(at: position) {
        case Kind.integer: return Array("\(Int64(bitPattern: word(at: position + 1)))".utf8)
        case Kind.unsigned: return Array("\(word(at: position + 1))".utf8)
        case Kind.double:
            let number = Double(bitPattern: word(at: position + 1))
            return number == number.rounded() && number.magnitude < 1e15 ? Array("\(Int64(number))".utf8) : nil
        default: return nil
        }
    }

    // MARK: simdjson's tape

    /// The top byte of a value's word, above 56 bits of payload. A number's bits are in the next word.
    @usableFromInline
    enum Kind {
        @inlinable static var object: UInt8 { UInt8(ascii: "{") }
        @inlinable static var array: UInt8 { UInt8(ascii: "[") }
        @inlinable static var text: UInt8 { UInt8(ascii: "\"") }
        @inlinable static var double: UInt8 { UInt8(ascii: "d") }
        @inlinable static var integer: UInt8 { UInt8(ascii: "l") }
        @inlinable static var unsigned: UInt8 { UInt8(ascii: "u") }
        @inlinable static var null: UInt8 { UInt8(ascii: "n") }
        @inlinable static var isTrue: UInt8 { UInt8(ascii: "t") }
    }

    @inlinable @inline(__always)
    func word(at position: Int) -> UInt64 {
        unsafe precondition(UInt(bitPattern: position) < UInt(bitPattern: tape.count), "there is no such position")
        return unsafe tape[position]
    }

    @inlinable @inline(__always)
    func kind(at position: Int) -> UInt8 { UInt8(truncatingIfNeeded: word(at: position) >> 56) }

    /// The position after an array or object.
    @inlinable @inline(__always)
    func end(of position: Int) -> Int { Int(UInt32(truncatingIfNeeded: word(at: position))) }

    @inlinable @inline(__always)
    func text(at position: Int) -> Range<Int> {
        let start = textStart(at: position)
        return start..<start + Int(textCount(before: start))
    }

    @inlinable @inline(__always)
    func isText(_ name: Span<UInt8>, at position: Int) -> Bool {
        let start = textStart(at: position)
        guard textCount(before: start) == name.count else { return false }
        for index in name.indices where unsafe textBytes[start &+ index] != name[unchecked: index] {
            return false
        }
        return true
    }

    @inlinable @inline(__always)
    func textStart(at position: Int) -> Int {
        let start = Int(word(at: position) & 0x00FF_FFFF_FFFF_FFFF) &+ 4
        unsafe precondition(start < textBytes.count, "the value is a text")
        return start
    }

    @inlinable @inline(__always)
    func textCount(before start: Int) -> UInt32 {
        unsafe UnsafeRawBufferPointer(textBytes).loadUnaligned(fromByteOffset: start &- 4, as: UInt32.self)
    }
}
