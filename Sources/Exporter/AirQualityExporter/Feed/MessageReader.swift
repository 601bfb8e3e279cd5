import AirQuality
import FeedOptions
import JQ
import System
import WebSocket

/// A decoder of a feed's messages according to its settings, used by one thread at a time.
struct MessageReader: ~Copyable {
    let settings: Configuration
    var decoder: FeedDecoder
    /// The program of `--feed.jq`; its process starts with the first message.
    private var program: JQProgram?

    init(_ settings: Configuration) {
        self.settings = settings
        decoder = FeedDecoder(format: settings.format)
    }

    mutating func read(_ message: Span<UInt8>, receivedAt now: Timestamp) -> FeedMessage {
        guard let text = settings.program else { return decoder.decode(message, receivedAt: now) }
        var complaint: String?
        var decoded = decoder.decode(message, receivedAt: now) { message in
            do throws(SystemError) {
                if program == nil {
                    program = try JQProgram(text, messageBytes: settings.feed.client.maximumMessageBytes)
                }
                return try program?.run(message)
            } catch {
                complaint = error.reason
                return nil
            }
        }
        decoded.explain(.jqError, problem: complaint)
        return decoded
    }
}
