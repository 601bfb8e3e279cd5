/// Milliseconds since the Unix epoch, UTC, leap seconds not counted.
public typealias Timestamp = Int64
