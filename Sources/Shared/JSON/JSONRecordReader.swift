internal import CSimdJSON

/// Reads a message that is an array of objects, and of each object the members it was told to.
///
/// simdjson checks the whole message against RFC 8259 (UTF-8 included) before anything is handed out: a message is
/// either read or rejected. Several JSON texts, one after the other with white space or U+001E between them, count as
/// an array of all; a byte order mark is skipped. Rejected as well is a message with a number that no double can hold,
/// or with half of a surrogate pair. Numbers come as the nearest double, escapes as their UTF-8; of a member that is
/// given twice in an object the last value counts, as in JavaScript. Objects and arrays may be nested ``maximumDepth``
/// deep.
///
/// Used from one thread at a time.
@safe
public struct JSONRecordReader: ~Copyable {
    /// Deeper messages are rejected as no JSON. RFC 8259 section 9 allows a limit.
    public static let maximumDepth = 512

    public enum Outcome: Sendable, Equatable {
        /// An array, or one object, which counts as an array of one. ``nextRecords()`` gives them.
        case records
        case notJSON
        /// Valid JSON, but no array or object at the place.
        case notAnArray
        /// Valid JSON without anything at the place.
        case nothing
    }

    /// Owned: freed with the reader.
    private let reader: OpaquePointer
    private let recordSize: Int
    /// Start of the values of an object's members in a record, by the object's member.
    private let firsts: [Int: Int]
    /// The records that ``nextRecords()`` gave, ``recordSize`` values each. The reader's.
    private var values: UnsafePointer<CSimdJSON_value>?
    private var recordCount = 0

    /// - Parameters:
    ///   - items: where the array is: the tokens of a JSON Pointer.
    ///   - members: each as ``jsonPointer(member:)`` takes it; ``value(record:member:)`` counts them in this order.
    ///   - objects: members that are objects, and what is read of them.
    public init(items: [[UInt8]] = [], members: [String], objects: [JSONObjectMember] = []) {
        precondition(!members.isEmpty, "a record has members")
        unsafe reader = CSimdJSON_make(Self.maximumDepth)
        recordSize = members.count + objects.reduce(0) { $0 + $1.names.count }
        var firsts: [Int: Int] = [:]
        var end = members.count
        for object in objects {
            firsts[object.member] = end
            end += object.names.count
        }
        self.firsts = firsts
        func add(tokens: some Sequence<[UInt8]>) {
            for token in tokens {
                unsafe token.withUnsafeBufferPointer { unsafe CSimdJSON_addToken(reader, $0.baseAddress, $0.count) }
            }
        }
        add(tokens: items)
        for member in members {
            guard let pointer = jsonPointer(member: member) else { preconditionFailure("bad pointer \(member)") }
            let isPointer = member.utf8.first == UInt8(ascii: "/")
            unsafe pointer[0].withUnsafeBufferPointer {
                unsafe CSimdJSON_addMember(reader, isPointer, $0.baseAddress, $0.count)
            }
            add(tokens: pointer.dropFirst())
        }
        for object in objects {
            for member in object.names {
                let name = Array(member.utf8)
                unsafe name.withUnsafeBufferPointer {
                    unsafe CSimdJSON_addInnerMember(
                        reader, object.member, object.notesUnknown, $0.baseAddress, $0.count)
                }
            }
        }
    }

    deinit { unsafe CSimdJSON_free(reader) }

    /// Reads a message, of 1 GiB at most; what an earlier call gave is gone.
    public mutating func read(_ message: Span<UInt8>) -> Outcome {
        unsafe values = nil
        recordCount = 0
        // A byte order mark may be ignored (RFC 8259, section 8.1). simdjson 3.12 takes one, 3.0 does not.
        let isMarked = message.count > 2 && message[0] == 0xEF && message[1] == 0xBB && message[2] == 0xBF
        let text = isMarked ? message.extracting(3...) : message
        let outcome = unsafe text.withUnsafeBufferPointer { unsafe CSimdJSON_read(reader, $0.baseAddress, $0.count) }
        switch outcome {
        case .records: return .records
        case .notJSON: return .notJSON
        case .notAnArray: return .notAnArray
        case .nothing: return .nothing
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
        let value = stored(record: record, member: member)
        switch value.kind {
        case .absent: return .absent
        case .null: return .null
        case .text: return .text(Int(value.offset)..<Int(value.offset) &+ Int(value.count))
        case .number, .integer: return .number(value.number)
        case .other: return .other
        case .object: return .object
        case .notAnObject: return .notAnObject
        }
    }

    /// The digits of a member that is a whole number, with its sign; `nil` for any other.
    public func wholeNumber(record: Int, member: Int) -> [UInt8]? {
        let value = stored(record: record, member: member)
        let sign = value.number < 0 ? "-" : ""
        switch value.kind {
        case .integer: return Array("\(sign)\(UInt64(value.offset) << 32 | UInt64(value.count))".utf8)
        case .number where value.number == value.number.rounded() && value.number.magnitude < 1e15:
            return Array("\(Int64(value.number))".utf8)
        default: return nil
        }
    }

    private func stored(record: Int, member: Int) -> CSimdJSON_value {
        guard let values = unsafe values, record >= 0, record < recordCount, member >= 0, member < recordSize else {
            preconditionFailure("there is no such member")
        }
        return unsafe values[record &* recordSize &+ member]
    }

    /// The value of a member of an object, which ``value(record:member:)`` says to be one.
    public func value(record: Int, object: JSONObjectMember, inner: Int) -> JSONValue {
        value(record: record, member: (firsts[object.member] ?? recordSize) + inner)
    }

    /// Names in opened objects that were not asked for: the first sixteen of the records read so far of the message,
    /// each once.
    public var unknownInnerMembers: [[UInt8]] {
        var count = 0
        guard let names = unsafe CSimdJSON_unknownMembers(reader, &count) else { return [] }
        return withTexts { texts in
            (0..<count).map { index in
                let name = unsafe names[index]
                return (0..<Int(name.count)).map { texts[Int(name.offset) + $0] }
            }
        }
    }

    /// Lends what texts point into, until the next ``read(_:)`` or the end of the records.
    public func withTexts<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        var count = 0
        let texts = unsafe CSimdJSON_texts(reader, &count)
        return body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: texts, count: count)))
    }
}
