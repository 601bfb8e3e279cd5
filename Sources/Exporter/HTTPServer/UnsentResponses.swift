/// Decides which large responses stay in memory: together they hold at most a budget of bytes, whatever the number of
/// clients and however slowly they read.
///
/// When a response finds no room, slow clients lose theirs; then the client that holds the most loses one to a client that
/// would still hold less, the oldest first; otherwise the new response is refused.
struct UnsentResponses: Sendable {
    struct Entry: Sendable {
        /// Of the connection: one response at a time.
        var socket: Int32
        /// `PeerAddress.client`.
        var client: [UInt8]
        var since: CoarseTime
        var content: LargeContent
    }

    /// With the usual limit of a container, 256 MiB, this leaves room for the cities and a large message. As much again
    /// may be in the kernel: see `HTTPConnections.limitUnacknowledged`.
    static let budget = 64 << 20

    let budget: Int
    private var entries: [Entry] = []
    /// By identity: contents that share their pieces are in memory once.
    private var holders: [Int: Int] = [:]
    private(set) var bytes = 0
    /// The most since `hasShrunk` said so.
    private var peak = 0

    init(budget: Int = Self.budget) {
        self.budget = budget
    }

    /// Counts the response until `release`.
    ///
    /// - Parameter isSlow: whether a client reads too slowly; not asked while there is room.
    /// - Returns: those that have to make room; nil: there is none.
    mutating func admit(_ entry: Entry, isSlow: (Entry) -> Bool) -> [Entry]? {
        var next = self
        guard let victims = next.makeRoom(for: entry, isSlow) else { return nil }
        next.entries.append(entry)
        if next.holders[entry.content.identity] == nil { next.bytes += cost(of: entry) }
        next.holders[entry.content.identity, default: 0] += 1
        next.peak = max(peak, next.bytes)
        self = next
        return victims
    }

    /// Whether so much has been released since the last time that the allocator should give it back to the system.
    mutating func hasShrunk() -> Bool {
        guard peak >= budget / 2, bytes <= peak / 2 else { return false }
        peak = bytes
        return true
    }

    /// Nothing happens when the connection has none.
    mutating func release(socket: Int32) {
        guard let index = entries.firstIndex(where: { $0.socket == socket }) else { return }
        let entry = entries.remove(at: index)
        let left = holders[entry.content.identity, default: 1] - 1
        holders[entry.content.identity] = left > 0 ? left : nil
        if left == 0 { bytes -= cost(of: entry) }
    }

    /// At most half of the budget, so that there is room for two responses of any size.
    private func cost(of entry: Entry) -> Int { min(entry.content.count, budget / 2) }

    private func hasRoom(for entry: Entry) -> Bool {
        holders[entry.content.identity] != nil || bytes + cost(of: entry) <= budget
    }

    private mutating func makeRoom(for entry: Entry, _ isSlow: (Entry) -> Bool) -> [Entry]? {
        if hasRoom(for: entry) { return [] }
        var held = Dictionary(entries.map { ($0.client, cost(of: $0)) }, uniquingKeysWith: +)
        let wanted = held[entry.client, default: 0] + cost(of: entry)
        let order = entries.sorted { [held] in (-held[$0.client]!, $0.since) < (-held[$1.client]!, $1.since) }
        let slow = order.filter(isSlow)
        let slowSockets = Set(slow.map(\.socket))
        var victims: [Entry] = []
        for candidate in slow + order.filter({ !slowSockets.contains($0.socket) })
        where slowSockets.contains(candidate.socket) || held[candidate.client]! > wanted {
            release(socket: candidate.socket)
            held[candidate.client]! -= cost(of: candidate)
            victims.append(candidate)
            if hasRoom(for: entry) { return victims }
        }
        return nil
    }
}
