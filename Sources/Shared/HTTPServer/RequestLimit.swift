internal import System

/// Limits what is in progress at once: requests of a route, including those with slow readers, or bytes. As much
/// again may wait briefly for its turn, so that a client slightly over its share is delayed, not rejected.
public final class RequestLimit: Sendable {
    let rejection: HTTPResponse
    private let limit: Int
    private let limitPerClient: Int
    private let patience: Duration
    private let state = Monitor(State())

    private struct State {
        var underWay = Amounts()
        var waiting = Amounts()
    }

    private struct Amounts {
        var total = 0
        var ofClients: [[UInt8]: Int] = [:]

        mutating func add(_ amount: Int, of client: [UInt8]) {
            total += amount
            let sum = ofClients[client, default: 0] + amount
            ofClients[client] = sum > 0 ? sum : nil
        }
    }

    /// - Parameters:
    ///   - limit: in total, at least 1.
    ///   - limitPerClient: for one IPv4 address, one IPv6 /64, or all Unix sockets together.
    ///   - patience: how long a request waits for its turn, on its connection's thread.
    ///   - rejection: response if there is no room.
    public init(_ limit: Int, perClient limitPerClient: Int, patience: Duration = .zero, rejection: HTTPResponse) {
        self.limit = limit
        self.limitPerClient = limitPerClient
        self.patience = patience
        self.rejection = rejection
    }

    /// Takes the amount if there is room, waiting for up to `patience`; returns `false` if there is none.
    func take(_ amount: Int = 1, of client: [UInt8]) -> Bool {
        var isWaiting = false
        let isTaken = state.wait(until: monotonicTime() + patience) { state -> Bool? in
            if add(amount, of: client, to: &state.underWay) { return true }
            if !isWaiting { isWaiting = add(amount, of: client, to: &state.waiting) }
            return isWaiting ? nil : false
        }
        if isWaiting { state.change { $0.waiting.add(-amount, of: client) } }
        return isTaken ?? false
    }

    /// Adds the amount if there is room. One that exceeds a limit by itself is accepted if it is the only one.
    private func add(_ amount: Int, of client: [UInt8], to amounts: inout Amounts) -> Bool {
        let own = amounts.ofClients[client] ?? 0
        guard amounts.total == 0 || amounts.total + amount <= limit, own == 0 || own + amount <= limitPerClient
        else { return false }
        amounts.add(amount, of: client)
        return true
    }

    func giveBack(_ amount: Int = 1, of client: [UInt8]) { state.change { $0.underWay.add(-amount, of: client) } }
}
