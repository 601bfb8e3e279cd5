internal import System

/// Limits what is in progress at once, in all and per client: requests with their readers, bytes that wait to be sent,
/// or work that takes processor time.
///
/// A request without room waits. Room goes to the client that has least, of these to the one that was served longest
/// ago, and within a client in order of arrival: many requests of one client do not delay another's.
public final class RequestLimit: Sendable {
    /// Who is ended when a request of another client finds no room.
    public enum Eviction: Sendable {
        case nobody
        /// The slowest reader of the client with the most; see ``HTTPLimits/readingPace``.
        case slowestReader
        /// The oldest of the client with the most, if that has at least two more.
        case oldest
    }

    /// A connection that holds a permit, or its stand-in in a test.
    protocol Holder: AnyObject, Sendable {
        /// See `IPAddress.client`.
        var client: [UInt8] { get }
        /// How far its reader is behind the pace; `nil` if it is not, or if nothing is being sent.
        func lag(at now: Duration) -> Duration?
        /// Ends what is being sent. Must not block, or use the limit.
        func giveWay()
    }

    /// Permission to be in progress, to be given back.
    struct Permit: Sendable {
        fileprivate let limit: RequestLimit
        fileprivate let id: Int

        /// Has no effect if the holder has given way.
        func giveBack() { limit.state.change { limit.release(id, &$0) } }
    }

    let rejection: HTTPResponse
    private let limit: Int
    private let limitPerClient: Int
    private let waitingLimit: Int?
    private let patience: Duration
    private let isPatientWithOthers: Bool
    private let eviction: Eviction
    private let state = Monitor(State())

    private struct Request {
        let holder: any Holder
        let amount: Int

        var client: [UInt8] { holder.client }
    }

    private struct State {
        var lastID = 0
        var lastTurn = 0
        /// The sum of all permits.
        var total = 0
        /// By ID.
        var admitted: [Int: Request] = [:]
        /// In order of arrival.
        var waiting: [(id: Int, request: Request)] = []
        /// Clients with a permit or a waiting request.
        var shares: [[UInt8]: Share] = [:]
    }

    private struct Share {
        var amount = 0
        var waiting = 0
        /// Number of the client's last turn, counting those of all clients.
        var lastTurn = 0
    }

    /// - Parameters:
    ///   - limit: in total, at least 1.
    ///   - limitPerClient: for one IPv4 address, one IPv6 /64, or all Unix sockets together.
    ///   - waitingLimit: how much may wait in total, and within `limitPerClient` of one client; `nil` = any amount.
    ///   - patience: how long a request waits for room, on its connection's thread.
    ///   - isPatientWithOthers: whether `patience` ends only the wait for requests of the same client.
    ///   - rejection: response if there is no room.
    public init(
        _ limit: Int, perClient limitPerClient: Int, waiting waitingLimit: Int? = nil, patience: Duration = .zero,
        isPatientWithOthers: Bool = false, eviction: Eviction = .nobody, rejection: HTTPResponse
    ) {
        self.limit = limit
        self.limitPerClient = limitPerClient
        self.waitingLimit = waitingLimit
        self.patience = patience
        self.isPatientWithOthers = isPatientWithOthers
        self.eviction = eviction
        self.rejection = rejection
    }

    /// Number of requests that hold a permit or wait for one.
    var count: Int { state.read { $0.admitted.count + $0.waiting.count } }

    /// Takes a permit, waiting for it if need be; `nil` if there is no room in time. An amount that exceeds a limit by
    /// itself is admitted if it is the only one.
    func take(_ amount: Int = 1, for holder: any Holder) -> Permit? {
        let start = monotonicTime()
        let id = state.change { state -> Int? in
            let request = Request(holder: holder, amount: amount)
            state.lastID += 1
            let id = state.lastID
            if state.waiting.isEmpty, hasOwnRoom(request, state), hasRoom(request, state) {
                admit(id, request, &state)
                return id
            }
            state.waiting.append((id, request))
            change(request.client, &state) { $0.waiting += amount }
            settle(&state, at: start)
            let mayWait = (patience > .zero || isPatientWithOthers) && !isCrowded(by: request.client, state)
            if mayWait || state.admitted[id] != nil { return id }
            leave(id, &state)
            return nil
        }
        guard let id else { return nil }
        if wait(for: id, until: start + patience) { return Permit(limit: self, id: id) }
        let isAdmitted = state.change { state in
            if state.admitted[id] != nil { return true }
            leave(id, &state)
            return false
        }
        return isAdmitted ? Permit(limit: self, id: id) : nil
    }

    /// Returns whether the request has got its permit.
    private func wait(for id: Int, until deadline: Duration) -> Bool {
        while true {
            let now = monotonicTime()
            // Readers fall behind without any change of the state.
            let pause = eviction == .slowestReader ? min(deadline, now + .milliseconds(20)) : deadline
            let isAdmitted = state.wait(until: pause) { state -> Bool? in
                if state.admitted[id] != nil { return true }
                guard let next = next(state), next.id == id else { return nil }
                let canSettle =
                    hasRoom(next.request, state) || victim(of: next.request, state, at: monotonicTime()) != nil
                return canSettle ? false : nil
            }
            if isAdmitted == true { return true }
            if isAdmitted == false { state.change { settle(&$0, at: monotonicTime()) } }
            guard isAdmitted == nil, monotonicTime() >= deadline else { continue }
            guard isPatientWithOthers, state.read({ isFirst(id, $0) }) else { return false }
            return state.wait { $0.admitted[id] != nil ? true : nil } ?? false
        }
    }

    // MARK: - Called under the lock

    private func admit(_ id: Int, _ request: Request, _ state: inout State) {
        state.lastTurn += 1
        state.total += request.amount
        state.admitted[id] = request
        change(request.client, &state) { [turn = state.lastTurn] share in
            share.amount += request.amount
            share.lastTurn = turn
        }
    }

    /// Whether more waits than may, after a request of the client has been added.
    private func isCrowded(by client: [UInt8], _ state: State) -> Bool {
        guard let waitingLimit, state.waiting.count > 1 else { return false }
        let ownCount = state.waiting.count { $0.request.client == client }
        return state.waiting.reduce(0) { $0 + $1.request.amount } > waitingLimit
            || (ownCount > 1 && state.shares[client]?.waiting ?? 0 > limitPerClient)
    }

    private func leave(_ id: Int, _ state: inout State) {
        guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return }
        let request = state.waiting.remove(at: index).request
        change(request.client, &state) { $0.waiting -= request.amount }
    }

    private func release(_ id: Int, _ state: inout State) {
        if remove(id, &state) != nil { settle(&state, at: monotonicTime()) }
    }

    /// Returns who had the permit, if it still existed.
    private func remove(_ id: Int, _ state: inout State) -> (any Holder)? {
        guard let request = state.admitted.removeValue(forKey: id) else { return nil }
        state.total -= request.amount
        change(request.client, &state) { $0.amount -= request.amount }
        return request.holder
    }

    private func change(_ client: [UInt8], _ state: inout State, _ body: (inout Share) -> Void) {
        var share = state.shares[client] ?? Share()
        body(&share)
        state.shares[client] = share.amount > 0 || share.waiting > 0 ? share : nil
    }

    /// Admits waiting requests as long as there is room, or somebody gives way.
    private func settle(_ state: inout State, at now: Duration) {
        while let (id, request) = next(state) {
            while !hasRoom(request, state) {
                guard let victim = victim(of: request, state, at: now) else { return }
                remove(victim, &state)?.giveWay()
            }
            leave(id, &state)
            admit(id, request, &state)
        }
    }

    /// The waiting request whose turn it is, among clients that do not have their share already.
    private func next(_ state: State) -> (id: Int, request: Request)? {
        state.waiting.filter { hasOwnRoom($0.request, state) }.min { left, right in
            let one = state.shares[left.request.client] ?? Share()
            let other = state.shares[right.request.client] ?? Share()
            return (one.amount, one.lastTurn, left.id) < (other.amount, other.lastTurn, right.id)
        }
    }

    private func hasOwnRoom(_ request: Request, _ state: State) -> Bool {
        let own = state.shares[request.client]?.amount ?? 0
        return own == 0 || own + request.amount <= limitPerClient
    }

    private func hasRoom(_ request: Request, _ state: State) -> Bool {
        state.total == 0 || state.total + request.amount <= limit
    }

    /// Whether the request waits for other clients alone.
    private func isFirst(_ id: Int, _ state: State) -> Bool {
        guard let request = state.waiting.first(where: { $0.id == id })?.request else { return true }
        return hasOwnRoom(request, state) && state.waiting.first { $0.request.client == request.client }?.id == id
    }

    private func victim(of request: Request, _ state: State, at now: Duration) -> Int? {
        let own = state.shares[request.client]?.amount ?? 0
        var best: (id: Int, amount: Int, lag: Duration)?
        for (id, holding) in state.admitted where holding.client != request.client {
            let amount = state.shares[holding.client]?.amount ?? 0
            let lag: Duration
            switch eviction {
            case .nobody: return nil
            case .slowestReader:
                guard amount > own, let behind = holding.holder.lag(at: now) else { continue }
                lag = behind
            case .oldest:
                guard amount > own + request.amount else { continue }
                lag = .seconds(-id)
            }
            if best.map({ ($0.amount, $0.lag) < (amount, lag) }) ?? true { best = (id, amount, lag) }
        }
        return best?.id
    }
}
