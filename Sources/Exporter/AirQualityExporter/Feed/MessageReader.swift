import AirQuality
import AirQualityIndex
import FeedOptions
import JQ
import System
import WebSocket

/// A decoder of a feed's messages according to its settings, used by one thread at a time.
struct MessageReader: ~Copyable {
    var decoder: FeedDecoder
    /// The programs of `--feed.jq` and `--feed.reply`.
    var programs: FeedPrograms

    init(_ settings: FeedSettings) {
        decoder = FeedDecoder(format: settings.format)
        programs = settings.programs
    }

    mutating func read(_ message: Span<UInt8>, receivedAt now: Timestamp) -> FeedMessage {
        guard programs.hasElements else { return decoder.decode(message, receivedAt: now) }
        var complaint: String?
        var decoded = decoder.decode(message, receivedAt: now) { message, isJSON in
            do throws(SystemError) {
                return try programs.elements(of: message, isJSON: isJSON)
            } catch {
                complaint = error.reason
                return nil
            }
        }
        decoded.explain(.jqError, problem: complaint)
        return decoded
    }
}
