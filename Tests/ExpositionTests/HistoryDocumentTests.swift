import AirQuality
import Bytes
import Exposition
import Foundation
import HTTPText
import TestSupport
import Testing

struct HistoryDocumentTests {
    private func document(_ test: borrowing TestStore, _ query: String = "") throws -> String {
        let snapshot = test.store.snapshot(withHistories: true)
        return String(decoding: HistoryDocument(snapshot, query: try HistoryQuery(query)).render(), as: UTF8.self)
    }

    private func points(_ test: borrowing TestStore, _ query: String = "") throws -> [String] {
        let json = try JSONSerialization.jsonObject(with: Data(document(test, query).utf8)) as? [String: Any]
        let points = try #require(json?["points"] as? [[String: Any]])
        return points.map { "\($0["city"] as? String ?? "?") \($0["aqi"] as? Double ?? -1)" }
    }

    private func store() -> TestStore {
        var test = TestStore(history: HistoryRule(interval: 1000))
        for step in 0..<4 {
            let time = TestStore.start + Int64(step) * 1000
            test.receive(#"[{"city":"Pune","aqi":\#(50 + step)},{"city":"A \"b\\c\"","aqi":152}]"#, at: time)
        }
        test.receive("São Paulo", 401.5, at: TestStore.start + 10)
        return test
    }

    @Test func `The history document matches its golden files`() throws {
        try expectGolden(Array(document(store()).utf8), named: "history.json")
        try expectGolden(Array(document(TestStore()).utf8), named: "history-empty.json")
    }

    @Test(
        arguments: [
            ("city=Pune", ["Pune 50.0", "Pune 51.0", "Pune 52.0", "Pune 53.0"]), ("city=pune", []),
            ("city=Nowhere", []),
            ("city=S%C3%A3o+Paulo", ["São Paulo 401.5"]), ("city=Sa%CC%83o+Paulo", []),
            ("limit=1", ["São Paulo 401.5", "A \"b\\c\" 152.0", "Pune 53.0"]),
            ("city=Pune&limit=2", ["Pune 52.0", "Pune 53.0"]),
            ("city=Pune&limit=99999999999999999999999", ["Pune 50.0", "Pune 51.0", "Pune 52.0", "Pune 53.0"]),
            ("since=1795236587252", ["A \"b\\c\" 152.0", "Pune 53.0"]),
            ("since=1795236587251&city=Pune", ["Pune 52.0", "Pune 53.0"]),
            ("city=Pune&city=S%c3%a3o%20Paulo&limit=1", ["São Paulo 401.5", "Pune 53.0"]),
            ("since=0&city=Pune&limit=1", ["Pune 53.0"]),
            ("&city=Pune&&limit=1&", ["Pune 53.0"]), ("since=99999999999999999999999", []),
        ] as [(String, [String])])
    func `The history document has the points that the query selects`(_ query: String, _ expected: [String]) throws {
        #expect(try points(store(), query) == expected)
    }

    @Test func `A query may name as many cities as fit into a request target`() throws {
        let query = Array(repeating: "city=a", count: 1165).joined(separator: "&")
        #expect(try HistoryQuery(query).cities?.count == 1165)
    }

    @Test(
        arguments: [
            ("limit=0", #"query: limit is "0", expected a whole number, at least 1"#),
            ("limit=+1", #"query: limit is " 1", expected a whole number, at least 1"#),
            ("limit=1&limit=1", "query: limit is given twice"), ("since=1&since=2", "query: since is given twice"),
            ("since=yesterday", #"query: since is "yesterday", expected milliseconds since the Unix epoch"#),
            ("city=", "query: city is empty, expected a city's name"),
            ("city", "query: city is empty, expected a city's name"),
            ("cities=Pune", #"query: unknown parameter "cities", expected city, limit or since"#),
            ("City=Pune", #"query: unknown parameter "City", expected city, limit or since"#),
            ("a%0Ab=1", #"query: unknown parameter "a\nb", expected city, limit or since"#),
            ("city=%ff", #"query: the value of "city" is not percent-encoded UTF-8"#),
            ("%ff=1", #"query: unknown parameter "%ff", expected city, limit or since"#),
        ])
    func `A malformed query is rejected with the reason`(_ query: String, _ line: String) {
        let error = #expect(throws: QueryError.self) { try HistoryQuery(query) }
        #expect(error?.line == line)
    }

    @Test func `The history document stays identical as long as its points do`() throws {
        var test = store()
        let before = try document(test, "city=Pune")
        test.receive("São Paulo", 3, at: TestStore.start + 60_000)
        test.receive("Pune", 54, at: TestStore.start + 3500)
        #expect(try document(test, "city=Pune") == before)
        #expect(before.hasPrefix(#"{"generated_at":"2026-11-21T04:49:48.252Z""#))
        test.receive("Pune", 55, at: TestStore.start + 4500)
        #expect(try document(test, "city=Pune").hasPrefix(#"{"generated_at":"2026-11-21T04:49:49.752Z""#))
    }

    @Test func `The expiry of a city changes the documents that it was in, and no others`() throws {
        var test = TestStore(expireAfter: 60_000)
        test.receive("Pune", 50, at: TestStore.start)
        test.receive("Delhi", 7, at: TestStore.start - 1000)
        let queries = ["city=Pune", "city=Pune&city=Delhi", ""]
        let before = try queries.map { try document(test, $0) }
        #expect(test.store.expire(at: TestStore.start + 60_000) == 1)
        #expect(try queries.enumerated().map { try document(test, $1) == before[$0] } == [true, false, false])
    }
}
