/// Which failed handshakes are logged: at most one a minute, because anybody can make them fail.
struct HandshakeLog: Sendable {
    static let interval = Duration.seconds(60)

    private var lastLineAt: Duration?
    private var others = 0

    /// How many failures had no line since the last one that had; nil when this one gets none.
    ///
    /// - Parameter now: by the monotonic clock.
    mutating func othersSinceLine(at now: Duration) -> Int? {
        if let lastLineAt, now - lastLineAt < Self.interval {
            others += 1
            return nil
        }
        lastLineAt = now
        defer { others = 0 }
        return others
    }
}
