import AirQuality
import HTTPServer
import Synchronization

/// The last responses with pages, so that many who are told of one change share one rendering.
final class PageCache: Sendable {
    /// Milliseconds: a page's ages, and its clock, may be this old.
    private static let maximumAge: Int64 = 1000
    private static let maximumCount = 16
    private static let maximumBytes = 256 << 10

    private struct Entry {
        var version: UInt64
        var renderedAt: Timestamp
        var response: HTTPResponse
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The response to a request, if one of this version of the data was rendered a moment ago, else the one that
    /// `render` makes, outside of the lock.
    func response(
        to request: HTTPRequest, version: UInt64, at now: Timestamp, _ render: () -> HTTPResponse
    ) -> HTTPResponse {
        let key = "\(request.takesGzip ? "gzip" : "plain") \(request.path)?\(request.query)"
        let known = entries.withLock { $0[key] }
        if let known, known.version == version, (0...Self.maximumAge).contains(now - known.renderedAt) {
            return known.response
        }
        let response = render()
        guard response.status == 200, case .bytes(let bytes) = response.body, bytes.count <= Self.maximumBytes else {
            return response
        }
        entries.withLock { entries in
            if entries[key] == nil, entries.count == Self.maximumCount { entries.removeAll() }
            entries[key] = Entry(version: version, renderedAt: now, response: response)
        }
        return response
    }
}
