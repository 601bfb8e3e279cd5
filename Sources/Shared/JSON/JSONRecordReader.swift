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
            unsafe pointer[0].withUnsafeBufferPointer { unsafe CSimdJSON_addMember(reader, $0.baseAddress, $0.count) }
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
        // A byte order mark must not be sent (RFC 8259, section 8.1). simdjson 3.12 takes one, 3.0 does not.
        if message.count > 2, message[0] == 0xEF, message[1] == 0xBB, message[2] == 0xBF { return .notJSON }
        let outcome = unsafe message.withUnsafeBufferPointer { unsafe CSimdJSON_read(reader, $0.baseAddress, $0.count) }
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

    /// The value of a member of an object, which ``value(record:member:)`` says to be one.
    public func value(record: Int, object: JSONObjectMember, inner: Int) -> JSONValue {
        value(record: record, member: (firsts[object.member] ?? recordSize) + inner)
    }

    /// Names in opened objects that were not asked for: the first sixteen of the records read so far of the message, each
    /// once.
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

    /// Description for people of one of the last ``nextRecords()``, or after ``Outcome/notAnArray`` of the message.
    public func description(of record: Int = 0) -> JSONDescription {
        var texts: [String] = []
        let count = unsafe CSimdJSON_describe(reader, record)
        for index in 0...count {
            var length = 0
            let bytes = unsafe CSimdJSON_name(reader, index, &length)
            unsafe texts.append(String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self))
        }
        return JSONDescription(items: texts.removeLast(), members: texts)
    }

    /// Lends what texts point into, until the next ``read(_:)`` or the end of the records.
    public func withTexts<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        var count = 0
        let texts = unsafe CSimdJSON_texts(reader, &count)
        return body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: texts, count: count)))
    }
}

/// The shape of an object that is not as expected.
public struct JSONDescription: Sendable, Equatable {
    /// In a message without an array of items: the pointer to an array of objects; empty = none.
    public let items: String
    /// The names of its first members, each cut to some 48 bytes.
    public let members: [String]
}

/// A member of records that is an object whose own members are read.
public struct JSONObjectMember: Sendable {
    /// Its place among the members.
    public let member: Int
    public let names: [String]
    /// Names that are none of these are remembered.
    public let notesUnknown: Bool

    public init(member: Int, names: [String], notesUnknown: Bool = true) {
        self.member = member
        self.names = names
        self.notesUnknown = notesUnknown
    }
}

/// One member of a record, as far as a reader of records needs to know it.
@frozen
public enum JSONValue: Sendable, Equatable {
    case absent
    case null
    /// Range of the UTF-8, escapes replaced, in the bytes that ``JSONRecordReader/withTexts(_:)`` lends.
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
