internal import Bytes

/// Any HTTP source of JSON: one document, which a jq program turns into elements.
struct JSONSource: AirSource {
    let document: SourceQuery

    func queries(for cities: [Int], at now: Int64) -> [SourceQuery] { [document] }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        // To jq an empty document means no elements, which would drop all known values.
        if body.allSatisfy({ isJSONBlank($0) }) { throw .unreadable("it is empty") }
        return SourceResponse(document: body)
    }
}

extension DataSource {
    public static let json = DataSource(name: "json", baseURL: "", rate: CallRate(calls: 60, per: .seconds(60))) {
        JSONSource(document: $0.document)
    }
}
