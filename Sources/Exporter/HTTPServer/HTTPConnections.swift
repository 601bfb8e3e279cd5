internal import Bytes
internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System

/// One connection and the request on it: HTTP/1.1 has one at a time.
///
/// It lives until libmicrohttpd's notice that the connection has ended, which comes before the socket is closed.
final class HTTPConnection: @unchecked Sendable {
    // @unchecked: the variables of the request are touched by libmicrohttpd's callbacks only, and all callbacks of a
    // connection come from one thread. What other threads read is constant or atomic; `isLeaving` and `sleeper` belong
    // to `HTTPConnections`, and change under its lock.
    let socket: Int32
    let peer: IPAddress
    /// Set once, before the first request.
    var handle: MHDConnection!
    /// Keeps alive what the connection's TLS session points into; nil: plain HTTP.
    var tls: TLSContext?
    /// No client's: it shows that the serving thread is alive.
    let isHeartbeat: Bool
    /// Has made room for another one.
    var isLeaving = false
    /// What sleeps on it, or may sleep.
    var sleeper: HTTPSleeper?
    private let deadline: Atomic<Int64>

    /// Where the current request stands.
    enum Phase {
        case idle
        /// The request line has come.
        case header
        /// The header has come, and no content follows.
        case complete
        /// libmicrohttpd waits until the password is checked, or the response is made.
        case suspended
        case sending
        /// The response is a stream, which may never end; nobody waits for it.
        case streaming
    }

    var phase = Phase.idle
    var target = HTTPRequestTarget.malformed
    var targetBytes = 0
    /// Nil while its header is not here, or when it is refused for it.
    var request: HTTPRequest?
    var isMetered = false
    /// Nil: it holds no permit.
    var permits: RequestPermits?
    /// The last one.
    var suspension: HTTPSuspension?
    /// Of the response under way.
    var status: Int?
    /// Content of the response under way that libmicrohttpd has been given; 0 of a small one.
    var sentBytes = 0
    /// The content of a large response, counted by `HTTPService.unsent`.
    var content: LargeContent?

    /// - Parameter deadline: of the monotonic clock; nil: none.
    init(socket: Int32, peer: IPAddress, deadline: Duration?, isHeartbeat: Bool = false) {
        self.socket = socket
        self.peer = peer
        self.isHeartbeat = isHeartbeat
        self.deadline = Atomic(deadline?.milliseconds ?? .max)
    }

    /// The request asks for no content.
    var isHead: Bool { request?.method == "HEAD" }

    /// Sets when the connection is closed unless its phase has ended; nil: never.
    func setDeadline(_ time: Duration?) { deadline.store(time?.milliseconds ?? .max, ordering: .relaxed) }

    /// Smaller: overdue sooner.
    var timeLeft: Int64 { deadline.load(ordering: .relaxed) }

    func isOverdue(at now: Duration) -> Bool { timeLeft < now.milliseconds }

    /// So that a slow client is noticed after little, and costs the system little. Corresponds to `SO_SNDBUF`.
    func limitSendBuffer() {
        var bytes: Int32 = 64 * 1024
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Ends the connection; libmicrohttpd notices and cleans up. Does not block.
    func hangUp() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Like `hangUp`, but also discards unsent data in the kernel.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        hangUp()
    }

    /// Bytes that the kernel still has, because the client has not acknowledged them. Corresponds to `SIOCOUTQ`.
    var unacknowledgedBytes: Int { Int(CLibMicroHTTPD_unacknowledged(socket)) }

    /// The bytes that a client's kernel takes although the client reads nothing. Corresponds to the default of `tcp_rmem`.
    private static let receiveBuffer = 128 * 1024

    /// Whether the client takes less than so many bytes a second of a response that has been under way for a second. Where
    /// nothing waits for it in the kernel, it is this server that is slow.
    func isSlow(since start: Duration, minimumRate: Int, now: Duration) -> Bool {
        let (milliseconds, unread) = ((now - start).milliseconds, unacknowledgedBytes)
        guard milliseconds >= 1000, unread > 0 else { return false }
        return sentBytes - unread - Self.receiveBuffer < Int(milliseconds) * minimumRate / 1000
    }
}

/// The open connections of a server: how many there may be, which of them are overdue, and what sleeps on them.
///
/// libmicrohttpd must not meet a limit of its own: it then leaves a mutex locked, and never serves again
/// (0.9.75 to 0.9.77, `new_connection_process_`).
final class HTTPConnections: Sendable {
    private let state: Mutex<State>

    private struct State {
        var open: [Int32: HTTPConnection] = [:]
        var peak = Peak()
        var quota: ConnectionQuota
        var eventsAreEnded = false
        var allAreEnded = false

        func isEnded(_ sleeper: HTTPSleeper) -> Bool {
            if case .stream(let stream) = sleeper, stream.isEndless, eventsAreEnded { return true }
            return allAreEnded
        }
    }

    init(limits: HTTPLimits) {
        let limit = OpenFileLimit.raise(forConnections: limits.maximumConnections)
        state = Mutex(State(quota: ConnectionQuota(limit: limit, limitPerClient: limits.maximumConnectionsPerAddress)))
    }

    /// Admits a connection that was accepted, until `remove`; false: close it.
    func admit(_ connection: HTTPConnection) -> Bool {
        state.withLock { state in
            switch state.quota.admit(connection.peer.client) {
            case .admitted: break
            case .refused: return false
            case .admittedInsteadOf(let client):
                // The one that has the least time left. It is counted until it has ended.
                let candidates = state.open.values.filter { $0.peer.client == client && !$0.isLeaving }
                guard let victim = candidates.min(by: { $0.timeLeft < $1.timeLeft }) else { return false }
                victim.isLeaving = true
                state.quota.evict(client)
                victim.hangUp()
            }
            state.quota.count(connection.peer.client)
            state.open[connection.socket] = connection
            state.peak.raise(to: state.open.count)
            return true
        }
    }

    /// Includes the heartbeat's connection.
    func insert(_ connection: HTTPConnection) { state.withLock { $0.open[connection.socket] = connection } }

    /// To be called before the socket is closed.
    func remove(_ connection: HTTPConnection) {
        state.withLock { state in
            guard state.open.removeValue(forKey: connection.socket) != nil, !connection.isHeartbeat else { return }
            state.quota.release(connection.peer.client, wasLeaving: connection.isLeaving)
        }
    }

    var isEmpty: Bool { state.withLock { $0.open.isEmpty } }

    /// Like `FairShares.hasShrunk`. Each connection had up to `connectionMemory` bytes.
    func hasShrunk() -> Bool { state.withLock { $0.peak.hasHalved(to: $0.open.count, from: 128) } }

    /// Nil when it has ended.
    subscript(socket: Int32) -> HTTPConnection? { state.withLock { $0.open[socket] } }

    func hangUpOnOverdue(at now: Duration) {
        endAbandoned(at: now)
        state.withLock { state in
            // Under the lock although it is a call of C: the connection leaves the table before its socket is closed,
            // so the number is still this connection's.
            for connection in state.open.values where connection.isOverdue(at: now) { connection.hangUp() }
            Self.limitUnacknowledged(of: state.open.values, to: HTTPService.unsentBudget)
        }
    }

    /// Ends connections until the kernel has at most so many bytes to send: those of the client that has most first. A
    /// response that fits its buffers is over before it is read.
    private static func limitUnacknowledged(of connections: some Collection<HTTPConnection>, to limit: Int) {
        let loads = connections.map { (connection: $0, bytes: $0.unacknowledgedBytes) }.filter { $0.bytes > 0 }
        var excess = loads.reduce(-limit) { $0 + $1.bytes }
        guard excess > 0 else { return }
        let clients = Dictionary(loads.map { ($0.connection.peer.client, $0.bytes) }, uniquingKeysWith: +)
        func rank(_ load: (connection: HTTPConnection, bytes: Int)) -> (Int, Int) {
            (clients[load.connection.peer.client, default: 0], load.bytes)
        }
        for load in loads.sorted(by: { rank($0) > rank($1) }) where excess > 0 {
            load.connection.abort()
            excess -= load.bytes
        }
    }

    // MARK: - What sleeps

    /// To be called when the connection begins to sleep, or may do so.
    func insert(_ sleeper: HTTPSleeper, on connection: HTTPConnection) {
        let isEnded = state.withLock { state in
            connection.sleeper = sleeper
            return state.isEnded(sleeper)
        }
        if isEnded { sleeper.end() }
    }

    func removeSleeper(of connection: HTTPConnection) { state.withLock { _ in connection.sleeper = nil } }

    /// Ends the requests that are overdue, and requests and events whose client has gone. Documents are never suspended
    /// for long.
    private func endAbandoned(at now: Duration) {
        let (requests, streams) = state.withLock { state -> ([HTTPSuspension], [HTTPStream]) in
            var requests: [HTTPSuspension] = []
            var events: [Int32: HTTPStream] = [:]
            for (socket, connection) in state.open {
                switch connection.sleeper {
                case .request(let request): requests.append(request)
                case .stream(let stream): if stream.isEndless { events[socket] = stream }
                case nil: break
                }
            }
            // Under the lock although it is a call of C, which does not block: the connection leaves the table before
            // its socket is closed, so the number is still this stream's.
            return (requests, abandonedSockets(of: events.keys).compactMap { events[$0] })
        }
        for request in requests { request.endIfAbandoned(at: now) }
        for stream in streams { stream.end() }
    }

    /// Ends all streams of events, and those that still begin.
    func endEvents() { endSleepers { $0.eventsAreEnded = true } }

    /// Ends all that sleeps, and what would still begin to.
    func endSleepers() { endSleepers { $0.allAreEnded = true } }

    private func endSleepers(_ change: (inout State) -> Void) {
        let sleepers = state.withLock { state in
            change(&state)
            return state.open.values.compactMap(\.sleeper).filter { state.isEnded($0) }
        }
        for sleeper in sleepers { sleeper.end() }
    }
}

/// The limit on connections, in all and of one client.
///
/// When there are as many as there may be, the client with the most of them loses one to a client that would still
/// have fewer, so a crowd costs its own address.
struct ConnectionQuota {
    let limit: Int
    /// At most seven eighths of all.
    let limitPerClient: Int
    private var counts: [[UInt8]: Int] = [:]
    private var total = 0
    /// Told to end, and still open.
    private var leaving = 0

    /// Connections beyond the limit, until those that make room for them have ended. More are refused: each has a
    /// descriptor.
    static let maximumLeaving = 16

    enum Admission: Equatable {
        case admitted
        /// A connection of that client has to end.
        case admittedInsteadOf(client: [UInt8])
        case refused
    }

    /// - Parameter limitPerClient: 0 = only that of all.
    init(limit: Int, limitPerClient: Int) {
        self.limit = limit
        self.limitPerClient = limitPerClient > 0 ? min(limitPerClient, max(1, limit - limit / 8)) : limit
    }

    /// Whether a connection may begin; changes nothing.
    func admit(_ client: [UInt8]) -> Admission {
        let own = counts[client, default: 0]
        guard own < limitPerClient else { return .refused }
        guard total >= limit else { return .admitted }
        guard leaving < Self.maximumLeaving, let most = counts.max(by: { $0.value < $1.value }), most.value > own + 1
        else { return .refused }
        return .admittedInsteadOf(client: most.key)
    }

    mutating func count(_ client: [UInt8]) {
        counts[client, default: 0] += 1
        total += 1
    }

    mutating func evict(_ client: [UInt8]) {
        uncount(client)
        leaving += 1
    }

    mutating func release(_ client: [UInt8], wasLeaving: Bool) {
        if wasLeaving { leaving -= 1 } else { uncount(client) }
    }

    private mutating func uncount(_ client: [UInt8]) {
        total -= 1
        let left = counts[client, default: 1] - 1
        counts[client] = left > 0 ? left : nil
    }
}

/// Shows that the serving thread is alive: now and then it is given a connection whose other end is closed, and when it
/// has noticed both, it has gone once through its loop.
///
/// This works with TLS and without, asks no route, and goes through the part of libmicrohttpd that can lock up.
final class HTTPHeartbeat: Sendable {
    private let count = Atomic(0)
    private let isUnderWay = Atomic(false)

    /// Grows as long as the serving thread goes through its loop.
    var beats: Int { count.load(ordering: .relaxed) }

    /// Begins a beat, unless the one before has not ended; on the thread that accepts.
    func begin(on connections: HTTPConnections, _ intake: HTTPDaemon.Intake) {
        guard !isUnderWay.load(ordering: .acquiring) else { return }
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            // No descriptors: that says nothing about the thread.
            count.add(1, ordering: .relaxed)
            return
        }
        close(pair[1])
        isUnderWay.store(true, ordering: .releasing)
        let connection = HTTPConnection(socket: pair[0], peer: IPAddress(bytes: []), deadline: nil, isHeartbeat: true)
        connections.insert(connection)
        if !intake.add(pair[0], from: SocketAddress(unix: [])) {
            connections.remove(connection)
            end()
        }
    }

    /// The serving thread has noticed the connection and its end.
    func end() {
        count.add(1, ordering: .relaxed)
        isUnderWay.store(false, ordering: .releasing)
    }
}

/// Measures for how long a count that should grow has stood still.
public struct HeartbeatWatch: Sendable {
    private var beats: Int
    private var lookedAt: Duration
    private var silence = Duration.zero

    /// The longest time between two looks. More between two looks does not count: the observer did not run either.
    public static let interval = Duration.seconds(5)

    /// - Parameter now: of the monotonic clock.
    public init(beats: Int, at now: Duration) {
        self.beats = beats
        lookedAt = now
    }

    /// The time without a beat that the observer has been awake for.
    public mutating func look(beats: Int, at now: Duration) -> Duration {
        silence = beats == self.beats ? silence + min(now - lookedAt, Self.interval) : .zero
        self.beats = beats
        lookedAt = now
        return silence
    }
}
