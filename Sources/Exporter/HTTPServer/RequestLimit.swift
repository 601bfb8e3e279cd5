internal import Synchronization
internal import System

/// Limits how much is under way at once: requests of a route, slow readers included, or bytes.
///
/// More may wait a moment for its turn, so that a client with a few connections more than its part is slowed down
/// instead of rejected, and one with many does not come again at once.
public final class RequestLimit: Sendable {
    let refusal: HTTPRefusal
    private let limit: Int
    private let limitPerClient: Int
    private let patience: Duration
    private let underWay = Mutex(Amounts())

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
    ///   - limit: in all, at least 1.
    ///   - limitPerClient: for one IPv4 address, one IPv6 /64, or all Unix sockets together.
    ///   - patience: how long a request waits for its turn, on its connection's thread.
    ///   - refusal: the response to one more.
    public init(_ limit: Int, perClient limitPerClient: Int, patience: Duration = .zero, refusal: HTTPRefusal) {
        self.limit = limit
        self.limitPerClient = limitPerClient
        self.patience = patience
        self.refusal = refusal
    }

    /// Takes the amount if there is room for it, or will be in time.
    func take(_ amount: Int = 1, of client: [UInt8]) -> Bool {
        let deadline = monotonicTime() + patience
        while !takeAtOnce(amount, of: client) {
            guard monotonicTime() < deadline else { return false }
            // Each end of a request would wake all that wait.
            pauseThread(for: .milliseconds(100))
        }
        return true
    }

    /// An amount that exceeds a limit alone is taken where there is nothing else.
    private func takeAtOnce(_ amount: Int, of client: [UInt8]) -> Bool {
        underWay.withLock { underWay in
            let own = underWay.ofClients[client] ?? 0
            guard underWay.total == 0 || underWay.total + amount <= limit, own == 0 || own + amount <= limitPerClient
            else { return false }
            underWay.add(amount, of: client)
            return true
        }
    }

    /// Gives back what was taken.
    func giveBack(_ amount: Int = 1, of client: [UInt8]) { underWay.withLock { $0.add(-amount, of: client) } }
}
