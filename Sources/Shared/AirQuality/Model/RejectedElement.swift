public import JSON

/// Description of the first element that was rejected for a reason.
public struct RejectedElement: Sendable, Equatable {
    public let reason: RejectionReason
    public let shape: JSONDescription
    public let lacksCity: Bool
    public let lacksValue: Bool
}
