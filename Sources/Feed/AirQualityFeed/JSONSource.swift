import AirSources

/// Any HTTP source that responds with JSON: one document, of which a jq program makes elements.
struct JSONSource: AirSource {
    /// Path and query of the document.
    let path: String
    /// Header lines of the request, which may be secret.
    let headers: [String]
    /// Name of the source in the log.
    let subject: String

    func queries(for cities: [Int], at now: Int64) -> [SourceQuery] {
        [SourceQuery(path: path, headers: headers, subject: subject)]
    }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        SourceResponse(document: body)
    }
}
