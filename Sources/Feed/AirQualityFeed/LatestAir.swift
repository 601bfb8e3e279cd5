import FeedSimulation

/// The latest elements of the feed, as messages. Times are monotonic.
struct LatestAir: Sendable {
    /// Entries of a message, so that it stays far below the length that clients accept.
    private static let entriesPerMessage = 1000

    private struct Entry {
        /// One or more elements, separated by commas.
        var elements: [UInt8]
        var confirmedAt: Duration
    }

    /// Elements that the source has not confirmed for this long are no longer sent.
    private let lifetime: Duration
    /// By the number of the city; a jq program's elements are one entry.
    private var entries: [Int: Entry] = [:]

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Takes in what the source says, and returns messages with the elements that are new.
    mutating func update(_ news: [(number: Int, elements: [UInt8])], at now: Duration) -> [[UInt8]] {
        var changed: [[UInt8]] = []
        for (number, elements) in news {
            let last = entries.updateValue(Entry(elements: elements, confirmedAt: now), forKey: number)
            if last?.elements != elements { changed.append(elements) }
        }
        return changed.isEmpty ? [] : Self.messages(changed)
    }

    /// Messages with all that is known; one empty message when nothing is.
    func all(at now: Duration) -> [[UInt8]] {
        let known = entries.filter { now - $0.value.confirmedAt <= lifetime }
        return Self.messages(known.sorted { $0.key < $1.key }.map(\.value.elements))
    }

    func isEmpty(at now: Duration) -> Bool { all(at: now) == [Array("[]".utf8)] }

    private static func messages(_ entries: [[UInt8]]) -> [[UInt8]] {
        jsonArrays(of: entries.filter { !$0.isEmpty }, maximumCount: entriesPerMessage)
    }
}
