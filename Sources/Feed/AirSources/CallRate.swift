/// A limit of `calls` calls per `period`; all of them may be made at once.
public struct CallRate: Sendable, Equatable {
    public var calls: Int
    public var period: Duration

    public init(calls: Int, per period: Duration) {
        self.calls = calls
        self.period = period
    }
}
