import HTTPServer
import System

/// Limits how many documents of a kind are rendered at a time, which leaves processors to scrapes. Unlike a
/// ``RequestLimit``, it does not count responses being sent.
struct RenderLimit: Sendable {
    /// The documents in the plural, for the response if none was ready in time.
    let documents: String
    /// How long a request waits for its turn.
    var patience = HTTPLimits.renderingPatience
    /// Number of documents being rendered.
    let underWay = Monitor(0)

    /// Renders a response in turn, on the calling thread.
    func respond(_ render: () -> HTTPResponse) -> HTTPResponse {
        let hasTurn = underWay.wait(until: monotonicTime() + patience) { count -> Bool? in
            guard count < HTTPLimits.renderings else { return nil }
            count += 1
            return true
        }
        guard hasTurn == true else {
            return .busy(
                "\(HTTPLimits.renderings) \(documents) are being generated, and none was ready within 10 s: try again later",
                retryAfter: 10)
        }
        defer { underWay.change { $0 -= 1 } }
        return render()
    }
}
