internal import CSimdJSON

/// Reads a message that is an array of objects, and of each object the members it was told to.
///
/// simdjson checks the whole message against RFC 8259 (UTF-8 included) before anything is handed out: a message is
/// either read or refused. Refused as well is one with a number that no double can hold, or with half of a surrogate
/// pair. Numbers come as the nearest double, escapes as their UTF-8; of a member that is given twice in an object the last
/// value counts, as in JavaScript. Objects and arrays may be nested ``maximumDepth`` deep.
///
/// Used from one thread at a time.
@safe
public struct JSONRecordReader: ~Copyable {
    /// Deeper messages are refused as no JSON. RFC 8259 section 9 allows a limit.
    public static let maximumDepth = 512

    public enum Outcome: Sendable, Equatable {
        /// An array, or one object, which counts as an array of one. ``nextRecords()`` gives them.
        case records
        case notJSON
        /// Valid JSON, but no array or object at the place.
        case notAnArray
    }

    /// Owned: freed with the reader.
    private let reader: OpaquePointer
    private let recordSize: Int
    /// The records that ``nextRecords()`` gave, ``recordSize`` values each. The reader's.
    private var values: UnsafePointer<CSimdJSON_value>?
    private var recordCount = 0

    /// - Parameters:
    ///   - items: where the array is.
    ///   - members: their names; ``value(record:member:)`` counts them in this order.
    ///   - innerMembers: if there are any, the last member is an object with these, and they are counted after the others.
    public init(items: JSONPointer = JSONPointer(), members: [String], innerMembers: [String] = []) {
        precondition(!members.isEmpty, "a record has members")
        unsafe reader = CSimdJSON_make(Self.maximumDepth)
        recordSize = members.count + innerMembers.count
        for token in items.tokens {
            unsafe token.withUnsafeBufferPointer { unsafe CSimdJSON_addToken(reader, $0.baseAddress, $0.count) }
        }
        for member in members {
            let name = Array(member.utf8)
            unsafe name.withUnsafeBufferPointer { unsafe CSimdJSON_addMember(reader, $0.baseAddress, $0.count) }
        }
        for member in innerMembers {
            let name = Array(member.utf8)
            unsafe name.withUnsafeBufferPointer { unsafe CSimdJSON_addInnerMember(reader, $0.baseAddress, $0.count) }
        }
    }

    deinit {
        unsafe CSimdJSON_free(reader)
    }

    /// Whether the message is well-formed UTF-8, many bytes at a time.
    public static func isUTF8(_ message: Span<UInt8>) -> Bool {
        unsafe message.withUnsafeBufferPointer { unsafe CSimdJSON_isUTF8($0.baseAddress, $0.count) }
    }

    /// Reads a message, of 1 GiB at most; what an earlier call gave is gone.
    public mutating func read(_ message: Span<UInt8>) -> Outcome {
        unsafe values = nil
        recordCount = 0
        let outcome = unsafe message.withUnsafeBufferPointer {
            unsafe CSimdJSON_read(reader, $0.baseAddress, $0.count)
        }
        switch outcome {
        case .records: return .records
        case .notJSON: return .notJSON
        case .notAnArray: return .notAnArray
        }
    }

    /// Goes on to the next records of the message, a hundred or so, in place of those before.
    ///
    /// - Returns: how many; 0 at the end, where texts are gone.
    public mutating func nextRecords() -> Int {
        unsafe values = CSimdJSON_nextRecords(reader, &recordCount)
        return recordCount
    }

    /// - Parameter record: one of the last ``nextRecords()``, from 0.
    public func value(record: Int, member: Int) -> JSONValue {
        guard let values = unsafe values, record >= 0, record < recordCount, member >= 0, member < recordSize else {
            preconditionFailure("there is no such member")
        }
        let value = unsafe values[record &* recordSize &+ member]
        switch value.kind {
        case .absent: return .absent
        case .null: return .null
        case .text: return .text(Int(value.offset)..<Int(value.offset) &+ Int(value.count))
        case .number: return .number(value.number)
        case .other: return .other
        case .object: return .object
        case .notAnObject: return .notAnObject
        }
    }

    /// Names in opened objects that were not asked for, as texts: the first sixteen of the records read so far of the
    /// message, each once.
    public var unknownInnerMembers: [Range<Int>] {
        var count = 0
        guard let names = unsafe CSimdJSON_unknownMembers(reader, &count) else { return [] }
        return (0..<count).map { index in
            let name = unsafe names[index]
            return Int(name.offset)..<Int(name.offset) + Int(name.count)
        }
    }

    /// Lends what texts point into, until the next ``read(_:)`` or the end of the records.
    public func withTexts<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        var count = 0
        let texts = unsafe CSimdJSON_texts(reader, &count)
        return body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: texts, count: count)))
    }
}

/// One member of a record, as far as a reader of records needs to know it.
@frozen
public enum JSONValue: Sendable, Equatable {
    case absent
    case null
    /// Where in what ``JSONRecordReader/withTexts(_:)`` lends the UTF-8 is, escapes replaced.
    case text(Range<Int>)
    /// The nearest `Double`.
    case number(Double)
    /// `true`, `false`, an array, or an object that is not opened.
    case other
    /// An object whose members follow as values of their own.
    case object
    /// The record is no object, so that it has no members.
    case notAnObject
}
