import AirQuality
import FeedOptions
import JQ
import System
import WebSocket

/// A decoder of a feed's messages according to its settings, used by one thread at a time.
struct MessageReader: ~Copyable {
    /// A decoded message, and how the program of `--feed.jq` fared.
    struct Outcome: ~Copyable {
        var decoded: FeedMessage
        /// The results of the program; `nil` without one or if it failed.
        var elements: [UInt8]?
        /// jq's error message if the program failed.
        var complaint: String?
    }

    let settings: Configuration
    var decoder: FeedDecoder
    /// The program of `--feed.jq`; its process starts with the first message.
    private var program: JQProgram?

    init(_ settings: Configuration) {
        self.settings = settings
        decoder = FeedDecoder(format: settings.format)
    }

    mutating func read(_ message: Span<UInt8>, receivedAt now: Timestamp) -> Outcome {
        guard let text = settings.program else { return Outcome(decoded: decoder.decode(message, receivedAt: now)) }
        var elements: [UInt8]?
        var complaint: String?
        let decoded = decoder.decode(message, receivedAt: now) { message in
            do throws(SystemError) {
                if program == nil {
                    program = try JQProgram(text, messageBytes: settings.feed.client.maximumMessageBytes)
                }
                elements = try program?.run(message)
            } catch {
                complaint = error.reason
            }
            return elements
        }
        return Outcome(decoded: decoded, elements: elements, complaint: complaint)
    }
}
