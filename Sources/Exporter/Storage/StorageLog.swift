internal import Bytes

/// The records of one row of the table `log`: what changed, in the order in which it did.
///
/// A record is a byte that says what follows, the city's number, and for a reading the time since that of the record
/// before, the index, and what else differs from the usual; whole numbers take as many bytes as they need, seven bits in
/// each. So a point is 11 to 13 bytes. At the end there is a checksum, because SQLite has none.
enum StorageRecord: Equatable {
    case reading(city: Int64, StoredReading)
    /// The city was removed. Earlier records with this number belong to it; later ones to another city with its number.
    case removal(city: Int64)
    /// The changes of category of all cities count from 0 again.
    case countersBeginAnew
}

/// A reading of a city in the log.
struct StoredReading: Equatable {
    var time: Int64
    var index: Double
    /// Is a point of the history.
    var isPoint = false
    /// When it arrived, if it is the city's current one.
    var receivedAt: Int64?
    /// The city's category and its changes, if they are other ones since the last such record.
    var changes: Changes?

    struct Changes: Equatable {
        var category: UInt8
        var direction: Int8
        var changedAt: Int64?
        var better: UInt64
        var worse: UInt64
    }
}

/// The bits of a record's first byte.
private struct RecordParts: OptionSet {
    let rawValue: UInt8
    static let point = RecordParts(rawValue: 1)
    static let current = RecordParts(rawValue: 2)
    /// It did not arrive at its time.
    static let receivedAt = RecordParts(rawValue: 4)
    static let changes = RecordParts(rawValue: 8)
    static let changedAt = RecordParts(rawValue: 16)
    static let removal = RecordParts(rawValue: 32)
    static let countersBeginAnew = RecordParts(rawValue: 64)
}

private let checksumLength = 4

private func checksum(_ bytes: Span<UInt8>) -> UInt32 {
    UInt32(truncatingIfNeeded: ByteHash.hash(bytes, seed: 0))
}

/// Makes the content of a row.
struct StorageLogWriter {
    private var bytes: [UInt8] = []
    private var time: Int64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var byteCount: Int { bytes.count }

    /// The row's content.
    var row: [UInt8] { Self.withChecksum(bytes) }

    static func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
        let sum = checksum(bytes.span)
        return bytes + (0..<checksumLength).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }

    mutating func append(_ record: StorageRecord) {
        count += 1
        switch record {
        case .reading(let city, let reading): append(reading, of: city)
        case .removal(let city):
            bytes.append(RecordParts.removal.rawValue)
            append(city)
        case .countersBeginAnew: bytes.append(RecordParts.countersBeginAnew.rawValue)
        }
    }

    private mutating func append(_ reading: StoredReading, of city: Int64) {
        var parts: RecordParts = []
        if reading.isPoint { parts.insert(.point) }
        if let receivedAt = reading.receivedAt {
            parts.insert(receivedAt == reading.time ? .current : [.current, .receivedAt])
        }
        if let changes = reading.changes {
            parts.insert(changes.changedAt == nil ? .changes : [.changes, .changedAt])
        }
        bytes.append(parts.rawValue)
        append(city)
        append(reading.time &- time)
        time = reading.time
        let pattern = reading.index.bitPattern
        for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: pattern >> (8 * byte))) }
        if parts.contains(.receivedAt), let receivedAt = reading.receivedAt { append(receivedAt &- reading.time) }
        guard let changes = reading.changes else { return }
        bytes.append(changes.category)
        bytes.append(UInt8(bitPattern: changes.direction))
        if let changedAt = changes.changedAt { append(reading.time &- changedAt) }
        append(Int64(clamping: changes.better))
        append(Int64(clamping: changes.worse))
    }

    /// Small numbers of either sign take one byte.
    private mutating func append(_ number: Int64) {
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Takes the content of a row apart.
struct StorageLogReader {
    private let bytes: [UInt8]
    private let end: Int
    private var place = 0
    private var time: Int64 = 0

    /// Nil when the checksum is wrong.
    init?(_ row: [UInt8]) {
        let end = row.count - checksumLength
        guard end >= 0 else { return nil }
        let sum = (0..<checksumLength).reduce(UInt32(0)) { $0 | UInt32(row[end + $1]) << (8 * UInt32($1)) }
        guard checksum(row.span.extracting(0..<end)) == sum else { return nil }
        bytes = row
        self.end = end
    }

    var isAtEnd: Bool { place == end }

    /// Nil at the end, and for what is no record; then nothing that follows is one either.
    mutating func next() -> StorageRecord? {
        guard let first = byte() else { return nil }
        let parts = RecordParts(rawValue: first)
        if parts == .countersBeginAnew { return .countersBeginAnew }
        guard let city = number() else { return nil }
        if parts == .removal { return .removal(city: city) }
        guard parts.isDisjoint(with: [.removal, .countersBeginAnew]), let passed = number(), place + 8 <= end
        else { return nil }
        time &+= passed
        var pattern: UInt64 = 0
        for byte in 0..<8 { pattern |= UInt64(bytes[place + byte]) << (8 * byte) }
        place += 8
        var reading = StoredReading(
            time: time, index: Double(bitPattern: pattern), isPoint: parts.contains(.point),
            receivedAt: parts.contains(.current) ? time : nil)
        if parts.contains(.receivedAt) {
            guard let later = number() else { return nil }
            reading.receivedAt = time &+ later
        }
        if parts.contains(.changes) {
            guard let changes = changes(hasTime: parts.contains(.changedAt)) else { return nil }
            reading.changes = changes
        }
        return .reading(city: city, reading)
    }

    private mutating func changes(hasTime: Bool) -> StoredReading.Changes? {
        guard let category = byte(), let direction = byte() else { return nil }
        var changedAt: Int64?
        if hasTime {
            guard let earlier = number() else { return nil }
            changedAt = time &- earlier
        }
        guard let better = number().flatMap(UInt64.init(exactly:)), let worse = number().flatMap(UInt64.init(exactly:))
        else { return nil }
        return StoredReading.Changes(
            category: category, direction: Int8(bitPattern: direction), changedAt: changedAt, better: better,
            worse: worse)
    }

    private mutating func byte() -> UInt8? {
        guard place < end else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func number() -> Int64? {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64, let byte = byte() {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
            shift += 7
        }
        return nil
    }
}

extension StorageLogWriter {
    /// The city's points and its current reading, which may be the last of them.
    mutating func append(_ city: StoredCity, number: Int64, within limits: StorageLimits) {
        var current = StoredReading(time: city.updatedAt, index: city.index, receivedAt: city.receivedAt)
        if !city.changesAreStored {
            current.changes = StoredReading.Changes(
                category: city.category, direction: city.direction, changedAt: city.changedAt, better: city.better,
                worse: city.worse)
        }
        var points = city.points[...]
        if let last = points.last, last == StoredPoint(time: city.updatedAt, index: city.index) {
            current.isPoint = true
            points.removeLast()
        }
        append(points, of: number, within: limits)
        append(.reading(city: number, current))
    }

    mutating func append(_ points: ArraySlice<StoredPoint>, of number: Int64, within limits: StorageLimits) {
        for point in points where point.isPlausible(within: limits) {
            append(.reading(city: number, StoredReading(time: point.time, index: point.index, isPoint: true)))
        }
    }
}
