import Bytes
import FeedOptions
import WebSocket

/// A feed and its settings: those of the flags, overridden by those of its entry in `--feed.file`.
struct ConfiguredFeed: Sendable {
    var label: String
    var address: WebSocketAddress
    var settings: FeedSettings
    /// The texts of the entry in `--feed.file` as bytes, by key; `nil` = from flags.
    var entry: [String: [[UInt8]]]?

    var idleTimeout: Int64 { settings.client.connection.idleTimeout.milliseconds }
}
