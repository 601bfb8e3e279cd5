import AirQuality
import Bytes
import HTTPServer
import Synchronization

/// Answers `/history.json`.
final class HistoryEndpoint: Sendable {
    private let store: ReadingStore
    /// Fields of every answer, errors included.
    private let headers: [(name: String, value: String)]
    /// The last document, while its points are the same.
    private let kept = Mutex<Document?>(nil)

    private struct Document: Sendable {
        var version: UInt64
        var query: HistoryQuery
        var isGzip: Bool
        var body: [UInt8]
        var tag: String
    }

    init(store: ReadingStore, corsOrigin: String?) {
        self.store = store
        headers =
            [("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding")]
            + (corsOrigin.map { [("Access-Control-Allow-Origin", $0)] } ?? [])
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let query: HistoryQuery
        do throws(HistoryQuery.Failure) {
            query = try HistoryQuery(request.query)
        } catch {
            return .jsonError(status: 400, headers: headers, error.line)
        }
        let document = document(query, isGzip: prefersGzip(acceptEncoding: request.header("Accept-Encoding")))
        var headers = self.headers + [("ETag", document.tag)]
        if let shard = store.rules.shard, let city = query.cities?.first, query.cities?.count == 1 {
            headers.append(("Air-Quality-Shard", Shard(of: city.span, count: shard.count).description))
        }
        if let condition = request.header("If-None-Match"), entityTag(document.tag, matches: condition) {
            return HTTPResponse(status: 304, headers: headers, body: .bytes([]))
        }
        headers.append(("Content-Type", "application/json"))
        if document.isGzip { headers.append(("Content-Encoding", "gzip")) }
        return HTTPResponse(status: 200, headers: headers, body: .bytes(document.body))
    }

    private func document(_ query: HistoryQuery, isGzip: Bool) -> Document {
        // Asked for before the points, so that the document is never older than its version says.
        let version = store.pointsVersion
        let last = kept.withLock { $0 }
        if let last, last.version == version, last.query == query, last.isGzip == isGzip { return last }
        let bytes = HistoryDocument.render(store, query: query)
        // The compressed form is another representation, so it has another tag (RFC 9110 section 8.8.3).
        let tag = "\"" + String(HistoryDocument.checksum(bytes), radix: 16) + (isGzip ? "-gzip" : "") + "\""
        let document = Document(
            version: version, query: query, isGzip: isGzip,
            body: isGzip ? Gzip.member(of: bytes.span) : bytes, tag: tag)
        kept.withLock { $0 = document }
        return document
    }
}

/// Whether an `If-None-Match` field names the tag; weak and strong tags are equal here (RFC 9110 section 13.1.2).
func entityTag(_ tag: String, matches condition: String) -> Bool {
    condition.split(separator: ",").contains { candidate in
        var candidate = candidate
        while let first = candidate.first, first == " " || first == "\t" { candidate.removeFirst() }
        while let last = candidate.last, last == " " || last == "\t" { candidate.removeLast() }
        if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
        return candidate == "*" || candidate == tag
    }
}
