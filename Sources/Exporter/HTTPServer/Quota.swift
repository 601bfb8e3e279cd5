/// How much of something there is, in all and of each client, and how much there may be.
struct Quota: Sendable {
    let limit: Int
    let limitPerClient: Int
    private(set) var total = 0
    private(set) var counts: [[UInt8]: Int] = [:]

    /// - Parameters:
    ///   - limit: in all.
    ///   - limitPerClient: of one `IPAddress.client`.
    init(limit: Int, limitPerClient: Int) {
        self.limit = limit
        self.limitPerClient = limitPerClient
    }

    /// Whether so much more may be taken. What exceeds a limit alone is taken where there is nothing else.
    func hasRoom(for amount: Int = 1, of client: [UInt8]) -> Bool {
        hasRoom(for: amount, beside: total, limit) && hasRoom(for: amount, beside: count(of: client), limitPerClient)
    }

    private func hasRoom(for amount: Int, beside taken: Int, _ limit: Int) -> Bool {
        taken == 0 || taken + amount <= limit
    }

    func count(of client: [UInt8]) -> Int { counts[client] ?? 0 }

    mutating func add(_ amount: Int = 1, of client: [UInt8]) {
        total += amount
        counts[client, default: 0] += amount
    }

    mutating func remove(_ amount: Int = 1, of client: [UInt8]) {
        total -= amount
        let left = count(of: client) - amount
        counts[client] = left > 0 ? left : nil
    }

    /// Adds the amount if there is room for it.
    mutating func take(_ amount: Int = 1, of client: [UInt8]) -> Bool {
        guard hasRoom(for: amount, of: client) else { return false }
        add(amount, of: client)
        return true
    }
}
