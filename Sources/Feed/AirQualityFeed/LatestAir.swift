import Synchronization

/// The latest elements of the feed as messages, for the loop that sends changes and for the server, which greets
/// clients.
///
/// Times are monotonic. What the source has not confirmed for the lifetime is no longer sent.
final class LatestAir: Sendable {
    /// Entries of a message, so that it stays far below the length that clients accept.
    private static let entriesPerMessage = 1000

    private struct Entry {
        /// One or more elements, separated by commas.
        var elements: [UInt8]
        var confirmedAt: Duration
    }

    private let lifetime: Duration
    /// By the number of the city; a jq program's elements are one entry.
    private let entries = Mutex<[Int: Entry]>([:])

    init(lifetime: Duration = .seconds(3 * 3600)) {
        self.lifetime = lifetime
    }

    /// Takes in what the source says.
    /// - Returns: messages with the elements that are new.
    func update(_ news: [(number: Int, elements: [UInt8])], at now: Duration) -> [[UInt8]] {
        let changed = entries.withLock { entries in
            news.filter { number, elements in
                let isNew = entries[number]?.elements != elements
                entries[number] = Entry(elements: elements, confirmedAt: now)
                return isNew
            }
        }
        return changed.isEmpty ? [] : Self.messages(changed.map(\.elements))
    }

    /// Messages with all that is known; one empty message when nothing is.
    func all(at now: Duration) -> [[UInt8]] {
        let entries = entries.withLock(\.self).filter { now - $0.value.confirmedAt <= lifetime }
        return Self.messages(entries.sorted { $0.key < $1.key }.map(\.value.elements))
    }

    func isEmpty(at now: Duration) -> Bool { all(at: now) == [Array("[]".utf8)] }

    private static func messages(_ entries: [[UInt8]]) -> [[UInt8]] {
        stride(from: 0, to: max(1, entries.count), by: entriesPerMessage).map { start in
            let some = entries[start..<min(start + entriesPerMessage, entries.count)]
            return Array("[".utf8) + some.filter { !$0.isEmpty }.joined(separator: ",".utf8) + "]".utf8
        }
    }
}
