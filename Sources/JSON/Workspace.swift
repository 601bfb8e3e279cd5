import Glibc

/// The memory of a reader: the message with room behind it for unescaped texts, and the records found.
///
/// Owns two blocks of malloc'ed memory. The message is followed by at least ``padding`` zero bytes, so a scanner may
/// load eight bytes wherever a byte of the message is, and a loop that stops at NUL stops at the end.
@safe
struct Workspace: ~Copyable {
    /// A member of a record. `tag` is 0 for absent, so zeroed memory is a record without members.
    struct Slot {
        var tag: Tag
        var isPlain: Bool
        var hasLoneSurrogate: Bool
        var count: UInt32
        var offset: UInt32
        /// The hash of a text or the bit pattern of a number.
        var bits: UInt64
    }

    enum Tag: UInt8 {
        case absent = 0
        case null, text, number, other
    }

    static let padding = 16

    let members: [[UInt8]]
    let memberCount: Int
    let hashSeed: UInt64

    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var messageCount = 0
    /// Bytes in use: the message, its padding, then unescaped texts.
    private(set) var usedCount = 0

    private(set) var slots: UnsafeMutablePointer<Slot>
    private var slotCapacity: Int
    private var objects: [Bool] = []
    private(set) var recordCount = 0

    /// What the canonical scanner finds.
    private(set) var pairs: UnsafeMutablePointer<JSONPair>
    private var pairCapacity: Int
    private(set) var pairCount = 0

    /// `{"":"","":0},` is the shortest.
    static let shortestPairCount = 13

    init(members: [[UInt8]], hashSeed: UInt64) {
        self.members = members
        self.hashSeed = hashSeed
        memberCount = members.count
        capacity = 1 << 12
        unsafe base = .allocate(capacity: capacity)
        slotCapacity = 64
        unsafe slots = .allocate(capacity: slotCapacity)
        pairCapacity = 64
        unsafe pairs = .allocate(capacity: pairCapacity)
    }

    deinit {
        unsafe base.deallocate()
        unsafe slots.deallocate()
        unsafe pairs.deallocate()
    }

    mutating func load(_ message: Span<UInt8>) {
        // Unescaped texts are never longer than they were escaped (a lone surrogate: 6 bytes to 3), so twice the
        // message always holds them.
        let needed = 2 * (message.count + Self.padding)
        if needed > capacity {
            unsafe base.deallocate()
            capacity = needed
            unsafe base = .allocate(capacity: capacity)
        }
        unsafe message.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress {
                unsafe memcpy(base, start, bytes.count)
            }
        }
        unsafe memset(base + message.count, 0, Self.padding)
        messageCount = message.count
        usedCount = message.count + Self.padding
        pairCount = 0
        forgetRecords()
    }

    mutating func roomForPairs(_ count: Int) -> UnsafeMutablePointer<JSONPair> {
        if count > pairCapacity {
            unsafe pairs.deallocate()
            pairCapacity = count * 2
            unsafe pairs = .allocate(capacity: pairCapacity)
        }
        return unsafe pairs
    }

    mutating func setPairCount(_ count: Int) {
        precondition(count <= pairCapacity)
        pairCount = count
    }

    mutating func forgetRecords() {
        recordCount = 0
        objects.removeAll(keepingCapacity: true)
    }

    /// Where the slots of a new record begin; all are absent.
    @inline(__always)
    mutating func appendRecord() -> UnsafeMutablePointer<Slot> {
        let first = recordCount &* memberCount
        if first &+ memberCount > slotCapacity {
            growSlots(holding: first)
        }
        recordCount &+= 1
        return unsafe slots + first
    }

    @inline(never)
    private mutating func growSlots(holding count: Int) {
        let larger = UnsafeMutablePointer<Slot>.allocate(capacity: slotCapacity * 4)
        unsafe larger.moveInitialize(from: slots, count: count)
        unsafe slots.deallocate()
        unsafe slots = larger
        slotCapacity *= 4
    }

    /// Only the strict way meets elements that are no objects; after the canonical one all are.
    mutating func markNotObject(record: Int) {
        while objects.count < record { objects.append(true) }
        objects.append(false)
    }

    func isObject(record: Int) -> Bool {
        record < objects.count ? objects[record] : true
    }

    func value(record: Int, member: Int) -> JSONValue {
        if pairCount > 0 {
            precondition(record >= 0 && record < pairCount)
            let pair = unsafe pairs[record]
            return member == 0 ? .text(pair.text) : .number(pair.number)
        }
        precondition(record >= 0 && record < recordCount && member >= 0 && member < memberCount)
        let slot = unsafe slots[record &* memberCount &+ member]
        switch slot.tag {
        case .absent: return .absent
        case .null: return .null
        case .other: return .other
        case .number: return .number(Double(bitPattern: slot.bits))
        case .text:
            return .text(slot.text)
        }
    }

    /// Appends a byte to the unescaped texts.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        precondition(usedCount < capacity)
        unsafe base[usedCount] = byte
        usedCount &+= 1
    }

    /// Appends the first `count` bytes of a word to the unescaped texts.
    @inline(__always)
    mutating func append(_ word: UInt64, count: Int) {
        precondition(usedCount &+ 8 <= capacity)
        unsafe UnsafeMutableRawPointer(base + usedCount).storeBytes(of: word.littleEndian, as: UInt64.self)
        usedCount &+= count
    }

    mutating func truncate(to count: Int) {
        usedCount = count
    }
}

extension JSONPair {
    fileprivate var text: JSONText {
        JSONText(offset: Int(offset), count: Int(count), hash: hash, isPlain: isPlain, hasLoneSurrogate: false)
    }
}

extension Workspace.Slot {
    /// Of a slot that is a text.
    var text: JSONText {
        JSONText(
            offset: Int(offset), count: Int(count), hash: bits, isPlain: isPlain, hasLoneSurrogate: hasLoneSurrogate)
    }

    static var absent: Workspace.Slot {
        Workspace.Slot(tag: .absent, isPlain: false, hasLoneSurrogate: false, count: 0, offset: 0, bits: 0)
    }

    static func number(_ value: Double) -> Workspace.Slot {
        Workspace.Slot(
            tag: .number, isPlain: false, hasLoneSurrogate: false, count: 0, offset: 0, bits: value.bitPattern)
    }
}
