/// Queries of a source and the meaning of its responses, without a clock: times are seconds since the Unix epoch.
public protocol AirSource: Sendable {
    /// Starts a new round, discarding the previous one, and returns its first queries. Without cities only a document
    /// is queried.
    mutating func queries(for cities: [Int], at now: Int64) -> [SourceQuery]
    /// Reads the body of a successful response.
    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse
    /// Returns what can be reported although the query got no response in this round.
    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse
}

extension AirSource {
    public mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse { query.unanswered }
}
