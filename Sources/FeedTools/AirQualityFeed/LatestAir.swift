import FeedSimulation

/// The latest elements of the feed, rendered as messages. Times are monotonic.
struct LatestAir: Sendable {
    /// Maximum number of entries per message, which keeps it far below the size limit of clients.
    private static let entriesPerMessage = 1000

    private struct Entry {
        /// Elements separated by commas; empty if a jq program returned none.
        var elements: [UInt8]
        var confirmedAt: Duration
    }

    /// How long elements are sent after the source last confirmed them.
    private let lifetime: Duration
    /// Entries by index of the city; the whole output of a jq program is one entry.
    private var entries: [Int: Entry] = [:]

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Stores elements from the source, and returns messages with those that changed.
    mutating func update(_ news: [(city: Int, elements: [UInt8])], at now: Duration) -> [[UInt8]] {
        var changed: [[UInt8]] = []
        for (city, elements) in news {
            let last = entries.updateValue(Entry(elements: elements, confirmedAt: now), forKey: city)
            if last?.elements != elements { changed.append(elements) }
        }
        return changed.isEmpty ? [] : Self.messages(changed)
    }

    /// Returns messages with all unexpired elements, or one empty array if there are none.
    func all(at now: Duration) -> [[UInt8]] {
        let known = entries.filter { now - $0.value.confirmedAt <= lifetime }
        return Self.messages(known.sorted { $0.key < $1.key }.map(\.value.elements))
    }

    func isEmpty(at now: Duration) -> Bool { all(at: now) == [Array("[]".utf8)] }

    private static func messages(_ entries: [[UInt8]]) -> [[UInt8]] {
        jsonArrays(of: entries.filter { !$0.isEmpty }, maximumCount: entriesPerMessage)
    }
}
