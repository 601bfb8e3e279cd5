/// A limit of `calls` per `period`, which may be used in one burst.
public struct CallRate: Sendable, Equatable {
    public var calls: Int
    public var period: Duration

    public init(calls: Int, per period: Duration) {
        self.calls = calls
        self.period = period
    }
}
