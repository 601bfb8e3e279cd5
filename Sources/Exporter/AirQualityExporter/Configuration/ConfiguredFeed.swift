import Bytes
import FeedOptions
import WebSocket

/// A feed to be read, and how: the settings of the flags, with those of its entry in `--feed.file` in their place.
struct ConfiguredFeed: Sendable {
    var label: String
    var address: WebSocketAddress
    var settings: Configuration
    /// The bytes of the entry's texts by their keys; `nil` = from flags.
    var entry: [String: [[UInt8]]]?

    var idleTimeout: Int64 { settings.feed.client.idleTimeout.milliseconds }
}
