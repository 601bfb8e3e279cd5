/// The counts of an `HTTPServer`'s metered requests.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route closure, this includes the request that it answers.
    public var requestsInFlight = 0
    /// Answers by status since the start.
    public var answers: [Int: Int] = [:]

    public init(requestsInFlight: Int = 0, answers: [Int: Int] = [:]) {
        self.requestsInFlight = requestsInFlight
        self.answers = answers
    }
}
