package import HTTPText

extension QueryParameter {
    /// Latest time of a chart, in the year 6429: years have four digits, and sums of times do not overflow.
    package static let latestTime: Timestamp = 1 << 47

    package func time(upTo latest: UInt64 = UInt64(latestTime)) throws(QueryError) -> Timestamp {
        Timestamp(clamping: try number(in: 0...latest, "milliseconds since the Unix epoch"))
    }
}
