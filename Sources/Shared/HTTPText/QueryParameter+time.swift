extension QueryParameter {
    /// Latest time of a chart, in the year 6429: years have four digits, and sums of times do not overflow.
    package static let latestTime: Int64 = 1 << 47

    /// Parses milliseconds since the Unix epoch.
    package func time(upTo latest: UInt64 = UInt64(latestTime)) throws(QueryError) -> Int64 {
        Int64(clamping: try number(in: 0...latest, "milliseconds since the Unix epoch"))
    }
}
