import AirQuality
import Bytes
import HTTPServer
import Synchronization

/// Answers `/history.json`.
final class HistoryEndpoint: Sendable {
    private let store: ReadingStore
    /// Points; 0 = no limit.
    private let limit: Int
    /// Fields of every answer, errors included.
    private let headers: [(name: String, value: String)]
    /// The last document, while its points are the same.
    private let kept = Mutex<Document?>(nil)
    private let downloads = HistoryDownloads()

    private struct Document: Sendable {
        var version: UInt64
        var query: HistoryQuery
        var isGzip: Bool
        /// Nil for one that is made while it is sent.
        var body: [UInt8]?
        var tag: String
    }

    /// Points of a document that is made at once, about 6 MB; a larger one is made while it is sent.
    private let wholeLimit: Int

    init(store: ReadingStore, corsOrigin: String?, limit: Int = 0, wholeLimit: Int = 50_000) {
        self.store = store
        self.limit = limit
        self.wholeLimit = wholeLimit
        headers =
            [("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding")]
            + (corsOrigin.map { [("Access-Control-Allow-Origin", $0)] } ?? [])
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let query: HistoryQuery
        do throws(QueryError) {
            query = try HistoryQuery(request.query)
        } catch {
            return .jsonError(status: 400, headers: headers, error.line)
        }
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        // Asked for before the points, so that the document is never older than its version says.
        let version = store.pointsVersion
        let last = kept.withLock { $0 }
        let known = last.flatMap { $0.version == version && $0.query == query && $0.isGzip == isGzip ? $0 : nil }
        if let known {
            if let answer = notModified(known, for: request) { return answer }
            if let body = known.body { return answer(known, .bytes(body)) }
        }
        let pointCount = store.pointCount
        var selection: HistorySelection?
        if pointCount > wholeLimit || limit > 0 && pointCount > limit {
            selection = HistorySelection(store, query: query)
        }
        let count = selection?.pointCount ?? pointCount
        guard limit == 0 || count <= limit else {
            return .jsonError(
                status: 413, headers: headers,
                "the history has \(count) points, expected at most \(limit): ask for less with ?city=, limit or since")
        }
        if let selection, count > wholeLimit {
            // Weak: a point that leaves while the document is sent may be missing.
            let tag = entityTag(of: String(selection.checksum, radix: 16), isGzip: isGzip, isWeak: true)
            let document = Document(version: version, query: query, isGzip: isGzip, tag: tag)
            kept.withLock { $0 = document }
            if let answer = notModified(document, for: request) { return answer }
            return answer(document, .stream(downloads.begin(HistoryPieces(store, selection), isGzip: isGzip)))
        }
        let (document, body) = document(query, isGzip: isGzip, version: version)
        return notModified(document, for: request) ?? answer(document, .bytes(body))
    }

    /// A 304 response if the client already has the document; nil otherwise.
    private func notModified(_ document: Document, for request: borrowing HTTPRequest) -> HTTPResponse? {
        guard let condition = request.header("If-None-Match"), entityTag(document.tag, matches: condition) else {
            return nil
        }
        return HTTPResponse(status: 304, headers: headers(of: document), body: .bytes([]))
    }

    private func answer(_ document: Document, _ body: HTTPBody) -> HTTPResponse {
        var headers = headers(of: document) + [("Content-Type", "application/json")]
        if document.isGzip { headers.append(("Content-Encoding", "gzip")) }
        return HTTPResponse(status: 200, headers: headers, body: body)
    }

    private func headers(of document: Document) -> [(name: String, value: String)] {
        var headers = self.headers + [("ETag", document.tag)]
        if let shard = store.rules.shard, let cities = document.query.cities, cities.count == 1, let city = cities.first
        {
            headers.append(("Air-Quality-Shard", Shard(of: city.span, count: shard.count).description))
        }
        return headers
    }

    private func document(
        _ query: HistoryQuery, isGzip: Bool, version: UInt64
    ) -> (document: Document, body: [UInt8]) {
        let bytes = HistoryDocument.render(store, query: query)
        let tag = entityTag(of: String(HistoryDocument.checksum(bytes), radix: 16), isGzip: isGzip)
        let body = isGzip ? Gzip.member(of: bytes.span) : bytes
        let document = Document(version: version, query: query, isGzip: isGzip, body: body, tag: tag)
        kept.withLock { $0 = document }
        return (document, body)
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

/// Whether an `If-None-Match` field names the tag; weak and strong tags are equal here (RFC 9110 section 13.1.2).
func entityTag(_ tag: String, matches condition: String) -> Bool {
    let tag = tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    return condition.split(separator: ",").contains { candidate in
        var candidate = trimmed(candidate)
        if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
        return candidate == "*" || candidate == tag
    }
}
