/// The counts of an `HTTPServer`'s metered requests.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route closure, this includes the request that it answers.
    public var requestsInFlight = 0
    /// Answers since the start, by ascending status.
    public var answers: [Answers] = []

    public struct Answers: Sendable, Equatable {
        public var status: Int
        public var count: Int

        public init(status: Int, count: Int) {
            self.status = status
            self.count = count
        }
    }

    public init(requestsInFlight: Int = 0, answers: [Answers] = []) {
        self.requestsInFlight = requestsInFlight
        self.answers = answers
    }
}
