internal import Glibc
internal import Synchronization

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
        let connection = HTTPConnection(
            socket: pair[0], peer: PeerAddress(bytes: []), deadline: nil, isHeartbeat: true)
        connections.insert(connection)
        var address = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let length = socklen_t(MemoryLayout<sa_family_t>.size)
        if unsafe !intake.add(pair[0], from: &address, length: length) {
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

    /// How often to look at least. More between two looks does not count: the observer did not run either.
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
