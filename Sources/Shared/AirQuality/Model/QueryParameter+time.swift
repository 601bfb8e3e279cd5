package import HTTPText

extension QueryParameter {
    /// The latest time of a chart: the year has four digits, and no sum or product of two times overflows.
    package static let latestTime: Timestamp = 1 << 47

    /// Milliseconds since the Unix epoch.
    package func time(upTo latest: UInt64 = UInt64(latestTime)) throws(QueryError) -> Timestamp {
        Timestamp(clamping: try number(in: 0...latest, "milliseconds since the Unix epoch"))
    }
}
