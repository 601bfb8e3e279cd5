import AirQuality
import Bytes
import Exposition
import HTTPServer
import HTTPText

/// Serves `/history.json` on the calling thread.
struct HistoryEndpoint: Sendable {
    private let store: ReadingStore
    /// Fields of every response, errors included.
    static let headers = [("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding")]

    init(store: ReadingStore) { self.store = store }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let query: HistoryQuery
        do throws(QueryError) {
            query = try HistoryQuery(request.query)
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        return respond(to: request, query)
    }

    private func respond(to request: HTTPRequest, _ query: HistoryQuery) -> HTTPResponse {
        let document = HistoryDocument(store.snapshot(withHistories: true), query: query)
        guard document.pointCount <= HTTPLimits.historyPoints else {
            let line = "the history has \(document.pointCount) points, expected at most \(HTTPLimits.historyPoints): "
            return HTTPResponse(status: 413, line: line + "request less with ?city=, limit or since")
        }
        let text = document.render()
        let checksum = String(fnv1a(text.span), radix: 16)
        // The compressed form is another representation with its own tag (RFC 9110 section 8.8.3). That tag is weak,
        // because another process may compress the document to other bytes.
        let tag = request.takesGzip ? "W/\"\(checksum)-gzip\"" : "\"\(checksum)\""
        var headers = [("ETag", tag)]
        if request.has(tag) { return HTTPResponse(status: 304, headers: headers, body: .bytes([])) }
        headers.append(("Content-Type", "application/json"))
        return HTTPResponse(headers: headers, to: request, text)
    }
}

extension HTTPRequest {
    /// Whether `If-None-Match` names the tag; weak and strong tags are equal there (RFC 9110 section 13.1.2).
    fileprivate func has(_ tag: String) -> Bool {
        let tag = tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
        return header("If-None-Match")?.split(separator: ",").contains { candidate in
            var candidate = trimmed(candidate)
            if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
            return candidate == "*" || candidate == tag
        } ?? false
    }
}
