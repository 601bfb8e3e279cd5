/// Which failed TLS handshakes are logged: at most one a minute, because anybody can make them fail.
struct HandshakeLog: Sendable {
    static let interval = Duration.seconds(60)

    private var lastLineAt: Duration?
    private var suppressed = 0

    /// How many failures have been suppressed since the last log line; nil if this failure is suppressed too.
    ///
    /// - Parameter now: by the monotonic clock.
    mutating func suppressed(before now: Duration) -> Int? {
        if let lastLineAt, now - lastLineAt < Self.interval {
            suppressed += 1
            return nil
        }
        lastLineAt = now
        defer { suppressed = 0 }
        return suppressed
    }
}
