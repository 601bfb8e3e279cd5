/// Milliseconds since the Unix epoch, UTC, without leap seconds.
public typealias Timestamp = Int64
