import TestSupport
import Testing

@testable import AirQuality

@Suite("The history document in pieces") struct HistoryPiecesTests {
    /// Points of 60 cities at many times, some of them at the same.
    private func store(capacity: Int = 25, expireAfter: Int64 = 0) -> TestStore {
        var test = TestStore(history: HistoryRule(capacity: capacity, interval: 0), expireAfter: expireAfter)
        var random = SeededRandom(seed: 7)
        for step in 0..<200 {
            let elements = (0..<60).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.map { city in
                #"{"city":"City \"\#(city)\"","aqi":\#(Double(Int.random(in: 0..<4000, using: &random)) / 8)}"#
            }
            test.receive("[\(elements.joined(separator: ","))]", at: TestStore.start + Int64(step) * 1000)
        }
        return test
    }

    private func pieces(
        _ test: borrowing TestStore, _ query: String = "", runLength: Int = 50_000
    ) throws -> HistoryDocument {
        HistoryDocument(
            test.store, HistorySelection(test.store, query: try HistoryQuery(query)), runLength: runLength)
    }

    private func text(_ pieces: HistoryDocument, bytes: Int = 1000) -> String {
        var pieces = pieces
        var text: [UInt8] = []
        while let piece = pieces.next(bytes: bytes) { text += piece }
        return String(decoding: text, as: UTF8.self)
    }

    @Test(
        "are the document, however it is divided", arguments: [1, 7, 100, 1000, 50_000],
        [
            "", "limit=3", "since=1795236685252", "limit=2&since=1795236685252", "city=City+%225%22&city=City+%227%22",
            "city=x",
        ])
    func areTheDocument(runLength: Int, query: String) throws {
        let test = store()
        let whole = String(decoding: HistoryDocument.render(test.store, query: try HistoryQuery(query)), as: UTF8.self)
        for bytes in [1, 300, 1 << 20] {
            #expect(text(try pieces(test, query, runLength: runLength), bytes: bytes) == whole)
        }
    }

    @Test("of an empty store are the document too") func empty() throws {
        let test = TestStore()
        #expect(text(try pieces(test)) == String(decoding: HistoryDocument.render(test.store), as: UTF8.self))
    }

    @Test("are of the size asked for, and few points wait in memory") func size() throws {
        let test = store()
        var pieces = try pieces(test, runLength: 100)
        var sizes: [Int] = []
        while let piece = pieces.next(bytes: 2000) { sizes.append(piece.count) }
        #expect(sizes.dropLast().allSatisfy { (2000..<2400).contains($0) })
        let ends = HistorySelection(test.store, query: HistoryQuery()).ends(runLength: 100)
        #expect((10...20).contains(ends.count))
        #expect(ends == ends.sorted())
    }

    @Test("have no point that came later") func later() throws {
        var test = store(capacity: 100)
        let whole = String(decoding: HistoryDocument.render(test.store), as: UTF8.self)
        var pieces = try pieces(test, runLength: 50)
        var text = pieces.next(bytes: 10_000) ?? []
        for city in 0..<80 { test.receive(#"[{"city":"City \"\#(city)\"","aqi":1}]"#, at: TestStore.start + 300_000) }
        while let piece = pieces.next(bytes: 1000) { text += piece }
        #expect(String(decoding: text, as: UTF8.self) == whole)
    }

    @Test("have no point of a city that has an expired one's number") func number() throws {
        var test = TestStore(
            history: HistoryRule(capacity: 25, interval: 0), expireAfter: 10_000, format: FeedFormat(timeField: "time"))
        func receive(_ city: String, _ index: Int, second: Int64, at time: Timestamp) {
            test.receive(#"[{"city":"\#(city)","aqi":\#(index),"time":\#(TestStore.start + second * 1000)}]"#, at: time)
        }
        for second in 0..<8 as Range<Int64> { receive("A", 1, second: second, at: TestStore.start + 8000) }
        var pieces = try pieces(test, runLength: 1)
        // The beginning and a point.
        var text = (pieces.next(bytes: 1) ?? []) + (pieces.next(bytes: 1) ?? [])
        #expect(test.store.expire(at: TestStore.start + 60_000) == 1)
        for second in 4..<8 as Range<Int64> { receive("B", 2, second: second, at: TestStore.start + 61_000) }
        #expect(test.points(of: "B").count == 4)
        while let piece = pieces.next(bytes: 1) { text += piece }
        let document = String(decoding: text, as: UTF8.self)
        #expect(document.contains(#""aqi":1"#) && !document.contains(#""aqi":2"#), "\(document)")
    }

    @Test("lack the points that left before their turn, and are a document still") func gone() throws {
        var test = store(expireAfter: 500_000)
        let points = HistoryDocument.render(test.store).split(separator: UInt8(ascii: "\n")).filter { line in
            line.starts(with: #"{"time":"#.utf8)
        }
        var pieces = try pieces(test, runLength: 50)
        var text = pieces.next(bytes: 3000) ?? []
        // Half of the cities' points are pushed out; the other half are gone, and their numbers are others' now.
        for step in 0..<30 {
            for city in 0..<30 {
                test.receive(
                    #"[{"city":"City \"\#(city)\"","aqi":1}]"#, at: TestStore.start + 600_000 + Int64(step) * 1000)
            }
        }
        #expect(test.store.expire(at: TestStore.start + 800_000) == 30)
        for city in 0..<30 { test.receive("New \(city)", 2, at: TestStore.start + 800_000) }
        while let piece = pieces.next(bytes: 1000) { text += piece }
        let lines = text.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: #"{"time":"#.utf8) }
        #expect(lines.count > 20 && lines.count < points.count)
        // Each is one of those, in the same order.
        func bare(_ line: ArraySlice<UInt8>) -> String {
            let line = String(decoding: line, as: UTF8.self)
            return String(line[...line.lastIndex(of: "}")!]).replacing("}]}", with: "}")
        }
        var rest = points.map(bare)[...]
        for line in lines.map(bare) {
            while let first = rest.popFirst(), first != line {}
        }
        #expect(rest.count < points.count - lines.count + 1)
        #expect(text.suffix(4).elementsEqual("}]}\n".utf8))
    }

    @Test("have a checksum of their content") func checksum() throws {
        func checksum(_ test: borrowing TestStore, _ query: String = "") throws -> UInt64 {
            HistorySelection(test.store, query: try HistoryQuery(query)).checksum
        }
        var test = store()
        var other = store()
        #expect(try checksum(test) == checksum(other))
        #expect(try checksum(test, "limit=2") != checksum(test))
        #expect(try checksum(test, "limit=2") == checksum(other, "limit=2"))
        let before = try checksum(test)
        test.receive(#"[{"city":"City \"7\"","aqi":1}]"#, at: TestStore.start + 300_000)
        #expect(try checksum(test) != before)
        other.receive(#"[{"city":"City \"8\"","aqi":1}]"#, at: TestStore.start + 300_000)
        #expect(try checksum(test) != checksum(other))
        #expect(try checksum(test, "city=x") == checksum(other, "city=x"))
    }
}
