/// Queries of a source and the meaning of its responses, without a clock: times are seconds since the Unix epoch.
public protocol AirSource: Sendable {
    /// Begins a new round, and forgets the rest of the last: its queries, for no city none but that for a document.
    mutating func queries(for cities: [Int], at now: Int64) -> [SourceQuery]
    /// Reads the body of a good response.
    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse
    /// Findings that are left when a query gets no response in this round.
    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse
}

extension AirSource {
    public mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse { SourceResponse() }
}
