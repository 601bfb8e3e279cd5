/// One band of a scale.
public struct Category: Sendable, Equatable {
    /// 1 for the best, counting up.
    public var number: UInt8
    public var name: String
    /// The index from which on the category applies.
    public var from: Double
    /// `#RRGGBB`: chosen so that Grafana's automatic text colour on it has a contrast of 4.5 : 1 at least.
    public var color: String
    public var face: String
    /// Effect on people, and advice.
    public var healthStatement: String
}
