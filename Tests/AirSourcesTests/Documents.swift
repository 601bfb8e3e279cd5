import AirQualityIndex
import Testing

@testable import AirSources

/// The present in these tests: 2026-07-21 19:20 UTC, in the hour 495,739.
let now: Int64 = 1_784_661_600
let thisHour = now / 3600 * 3600

let delhi = PolledCity(name: "Delhi", latitude: 28.65195, longitude: 77.23149)
let pune = PolledCity(name: "Pune", latitude: 18.51957, longitude: 73.85535)

extension AirSource {
    /// Answers each of `queries(for:)` with the document for its path; a query without a document is given up.
    mutating func findings(
        for cities: [Int], at time: Int64 = now, _ document: (_ path: String) -> String?
    ) throws -> [CityFinding] {
        var queue = queries(for: cities, at: time)
        var findings: [CityFinding] = []
        while !queue.isEmpty {
            let query = queue.removeFirst()
            guard let document = document(query.path) else {
                let rest = giveUp(query, at: time)
                findings += rest.findings
                queue = rest.queries + queue
                continue
            }
            let response = try read(Array(document.utf8), of: query, at: time)
            findings += response.findings
            queue += response.queries
        }
        return findings
    }

    /// Findings about the first city when each query is answered with the document.
    func findings(in document: String) throws -> [CityFinding] {
        var source = self
        return try source.findings(for: [0]) { _ in document }
    }

    /// The response to the first query about the first city.
    func response(to document: String) throws -> SourceResponse {
        var source = self
        let query = try #require(source.queries(for: [0], at: now).first)
        return try source.read(Array(document.utf8), of: query, at: now)
    }

    func error(of document: String) throws -> SourceError {
        try #require(throws: SourceError.self) { try response(to: document) }
    }
}

/// The reason why there is no air.
func reason(_ findings: [CityFinding]) throws -> String {
    guard case .failure(let reason) = try #require(findings.first).air else { throw AirUnavailable("there is air") }
    return "\(reason)"
}

func air(_ findings: [CityFinding]) throws -> CityAir { try #require(findings.first).air.get() }
