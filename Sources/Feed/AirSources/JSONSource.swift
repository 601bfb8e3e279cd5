/// Any HTTP source that responds with JSON: one document, of which a jq program makes elements.
struct JSONSource: AirSource {
    let document: SourceQuery

    func queries(for cities: [Int], at now: Int64) -> [SourceQuery] { [document] }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        SourceResponse(document: body)
    }
}
