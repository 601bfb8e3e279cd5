import Glibc

/// Reads a message that is an array of objects, and of each object the members it was told to.
///
/// The whole message is checked against RFC 8259 (UTF-8 included) before anything is handed out: a message is either
/// read or refused. Numbers come as the nearest double, escapes as their UTF-8; a member that stands twice in an
/// object counts with its last value, as in JavaScript. Objects and arrays may be nested ``maximumDepth`` deep.
///
/// Messages as feeds really send them (two members, a text without escapes and a number) take a short way through
/// `CanonicalScanner`; what that does not know goes to `StrictScanner`, which knows all of JSON. Both judge alike.
///
/// Used from one thread at a time.
@safe
public struct JSONRecordReader: ~Copyable {
    /// Deeper messages are refused as no JSON. RFC 8259 section 9 allows a limit.
    public static let maximumDepth = 512

    public enum Outcome: Sendable, Equatable {
        /// Each element is a text and a number, in the members asked for: ``withPairs(_:)`` lends them.
        case pairs(Int)
        /// How many elements the array has; one object counts as an array of one.
        case records(Int)
        case notJSON
        /// Valid JSON, but no array or object at the place.
        case notAnArray
    }

    private var workspace: Workspace
    private let items: JSONPointer
    /// nil when no message can be canonical.
    private let keys: MemberKeys?

    /// - Parameters:
    ///   - members: their names, 1 … 4; ``value(record:member:)`` counts them in this order.
    ///   - hashSeed: a secret of the process, so that a feed cannot choose names that collide.
    public init(items: JSONPointer = JSONPointer(), members: [String], hashSeed: UInt64) {
        precondition((1...4).contains(members.count))
        self.items = items
        keys = items.tokens.isEmpty && members.count == 2 ? MemberKeys(names: members.map { Array($0.utf8) }) : nil
        workspace = Workspace(members: members.map { Array($0.utf8) }, hashSeed: hashSeed)
    }

    /// Reads one message; what an earlier call gave is gone.
    public mutating func read(_ message: Span<UInt8>) -> Outcome {
        workspace.load(message)
        if let keys, CanonicalScanner.scan(&workspace, keys: keys, seed: workspace.hashSeed) {
            return .pairs(workspace.pairCount)
        }
        return StrictScanner.scan(&workspace, items: items)
    }

    /// As ``read(_:)``, never by the short way. For tests that compare the two.
    package mutating func readStrictly(_ message: Span<UInt8>) -> Outcome {
        workspace.load(message)
        return StrictScanner.scan(&workspace, items: items)
    }

    /// Whether the element is an object; if not, its members are absent.
    public func isObject(record: Int) -> Bool {
        workspace.isObject(record: record)
    }

    public func value(record: Int, member: Int) -> JSONValue {
        workspace.value(record: record, member: member)
    }

    /// Lends the pairs of the message, and what their texts point into.
    public func withPairs(_ body: (_ pairs: Span<JSONPair>, _ bytes: Span<UInt8>) -> Void) {
        body(
            unsafe Span(_unsafeStart: UnsafePointer(workspace.pairs), count: workspace.pairCount),
            unsafe Span(_unsafeStart: UnsafePointer(workspace.base), count: workspace.usedCount))
    }

    /// Lends what texts point into; it is theirs until the next ``read(_:)``.
    public func withBytes(_ body: (Span<UInt8>) -> Void) {
        body(unsafe Span(_unsafeStart: UnsafePointer(workspace.base), count: workspace.usedCount))
    }
}
