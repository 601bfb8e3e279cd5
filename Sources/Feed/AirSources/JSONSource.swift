internal import Bytes

/// Any HTTP source that responds with JSON: one document, of which a jq program makes elements.
struct JSONSource: AirSource {
    let document: SourceQuery

    func queries(for cities: [Int], at now: Int64) -> [SourceQuery] { [document] }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        // For jq it would be no element, and all that is known would be gone.
        if body.allSatisfy({ isJSONBlank($0) }) { throw .unreadable("it is empty") }
        return SourceResponse(document: body)
    }
}
