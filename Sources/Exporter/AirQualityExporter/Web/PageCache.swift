import AirQuality
import HTTPServer
import Synchronization

/// The last responses with pages, so that many who are told of one change share one rendering.
final class PageCache: Sendable {
    private static let maximumCount = 16
    private static let maximumBytes = 256 << 10

    /// The request as far as a page depends on it, in bytes: two texts that look the same may name two cities.
    private struct Key: Hashable {
        let isGzip: Bool
        let path: [UInt8]
        let query: [UInt8]
    }

    /// Responses of one version of the data.
    private struct Pages {
        var version: UInt64 = 0
        /// When the first was asked for. A page's ages, and its clock, may be a second old.
        var beganAt: Timestamp = 0
        var responses: [Key: HTTPResponse] = [:]
    }

    private let pages = Mutex(Pages())

    /// The response to a request, if one of this version of the data was rendered a moment ago, else the one that
    /// `render` makes, outside of the lock.
    func response(
        to request: HTTPRequest, version: UInt64, at now: Timestamp, _ render: () -> HTTPResponse
    ) -> HTTPResponse {
        let key = Key(isGzip: request.takesGzip, path: Array(request.path.utf8), query: Array(request.query.utf8))
        let known = pages.withLock { pages in
            let isRecent = pages.version == version && (0...1000).contains(now - pages.beganAt)
            if !isRecent { pages = Pages(version: version, beganAt: now) }
            return pages.responses[key]
        }
        if let known { return known }
        let response = render()
        guard response.status == 200, case .bytes(let bytes) = response.body, bytes.count <= Self.maximumBytes else {
            return response
        }
        pages.withLock { pages in
            let hasRoom = pages.responses.count < Self.maximumCount
            if pages.version == version, pages.beganAt <= now, hasRoom { pages.responses[key] = response }
        }
        return response
    }
}
