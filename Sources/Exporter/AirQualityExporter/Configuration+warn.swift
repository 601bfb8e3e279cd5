import FeedOptions
import System
import WebSocket

extension Configuration {
    /// Logs settings that are accepted but probably mistakes.
    func warn(_ logger: Logger, of feeds: [ConfiguredFeed]) {
        if isDemo, !feeds.isEmpty {
            logger.warning(
                "Simulated readings are mixed with those of the feeds", metadata: ["flag": "--feed.demo"])
        }
        let unverified = feeds.filter(\.settings.client.connection.tls.skipsVerification)
        if feed.client.connection.tls.skipsVerification || !unverified.isEmpty {
            logger.warning(
                unverified.contains(where: \.address.isSecure)
                    ? "Feed certificates are not verified: anyone on the network path can send readings"
                    : "No feed with this setting is wss://, so there is no certificate to verify",
                metadata: ["flag": "--feed.insecure-skip-verify"])
        }
    }
}
