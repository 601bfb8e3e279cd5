/// One band of a scale.
public struct Category: Sendable, Equatable {
    /// 1 for the best, counting up.
    public var number: UInt8
    public var name: String
    /// Lowest AQI of the category.
    public var from: Double
    /// `#RRGGBB`, chosen so that Grafana's automatic text colour has a contrast of at least 4.5 : 1 on it.
    public var color: String
    public var face: String
    /// Health effects.
    public var healthStatement: String
    /// The authority's advice about sport outdoors, and to people with lung or heart disease, children and the elderly.
    public var sportAdvice, sensitiveAdvice: String
}
