import AirQuality
import Bytes
import HTTPServer
import HTTPText
import Synchronization
import System

/// Answers `/history.json`, on the work queue.
struct HistoryEndpoint: Sendable {
    private let store: ReadingStore
    /// Points; 0 = no limit.
    private let limit: Int
    /// Fields of every response, errors included.
    private let headers: [(name: String, value: String)]
    private let queue: WorkQueue
    /// Points of a document that is made at once, 650 KB; a larger one is made while it is sent.
    private let wholeLimit: Int

    init(store: ReadingStore, corsOrigin: String?, limit: Int = 0, wholeLimit: Int = 5000, queue: WorkQueue) {
        self.store = store
        self.limit = limit
        self.wholeLimit = wholeLimit
        self.queue = queue
        headers =
            [("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding")]
            + (corsOrigin.map { [("Access-Control-Allow-Origin", $0)] } ?? [])
    }

    /// Bytes that a response takes at most until it is sent: a piece or two, a run of points, and where to find the points
    /// of each city. Asked on the serving thread, so the query is not read for it.
    var memory: Int { (1 << 20) + store.snapshot().cityCount * 32 }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let query: HistoryQuery
        do throws(QueryError) {
            query = try HistoryQuery(request.query)
        } catch {
            return .jsonError(status: 400, headers: headers, error.line)
        }
        let document = HistoryDocument(store.snapshot(withHistories: true), query: query)
        guard limit == 0 || document.pointCount <= limit else {
            let line =
                "the history has \(document.pointCount) points, expected at most \(limit): "
                + "ask for less with ?city=, limit or since"
            return .jsonError(status: 413, headers: headers, line)
        }
        let isGzip = request.takesGzip
        let tag = entityTag(of: String(document.checksum, radix: 16), isGzip: isGzip)
        var headers = headers + [("ETag", tag)]
        if let shard = store.rules.shard, let cities = query.cities, cities.count == 1, let city = cities.first {
            headers.append(("Air-Quality-Shard", Shard(of: city.span, count: shard.count).description))
        }
        if request.has(tag) { return HTTPResponse(status: 304, headers: headers, body: .bytes([])) }
        headers.append(("Content-Type", "application/json"))
        return HTTPResponse(headers: headers, to: request, document.render())
    }
}

/// The entity tag of a document that is identified by `checksum`.
///
/// - Parameters:
///   - isGzip: the tag is for the compressed form, which is another representation with another tag (RFC 9110 section
///     8.8.3). That tag is weak, because another process may compress the same document to other bytes.
///   - isWeak: makes the tag of the uncompressed form weak as well.
func entityTag(of checksum: String, isGzip: Bool, isWeak: Bool = false) -> String {
    (isGzip || isWeak ? "W/" : "") + "\"\(checksum)\(isGzip ? "-gzip" : "")\""
}
