import Testing

@testable import HTTPServer

@Suite struct HTTPRequestTargetTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var target: String
        /// What it is taken apart to; `nil`: it is malformed.
        var parts: [String]?
        var testDescription: String { target }

        init(_ target: String, _ path: String, _ query: String = "") {
            self.target = target
            parts = [path, query]
        }

        init(malformed target: String) { self.target = target }

        static let all: [Case] = [
            Case("/", "/"), Case("/metrics", "/metrics"), Case("/metrics?", "/metrics"),
            Case("/metrics?a=b&c=%20+", "/metrics", "a=b&c=%20+"), Case("/a?b?c", "/a", "b?c"),
            Case("/a%20b", "/a b"), Case("/%6D%65trics", "/metrics"), Case("/%e0%a4%a6", "/द"),
            Case("//metrics", "//metrics"), Case("/../metrics", "/../metrics"), Case("/%2e%2e/x", "/../x"),
            Case("/metrics/", "/metrics/"), Case("/metrics%2f", "/metrics/"), Case("/a%3Fb", "/a?b"),
            Case("/metrics#x", "/metrics#x"), Case("*", "*"), Case("/%25", "/%"),
            Case("http://host/metrics?x", "/metrics", "x"), Case("HTTPS://host:1/", "/"), Case("http://host", "/"),
            Case("http://host?q", "/", "q"),
            Case("/" + String(repeating: "a", count: 99), "/" + String(repeating: "a", count: 99)),
            Case(malformed: ""), Case(malformed: "metrics"), Case(malformed: "**"), Case(malformed: "http://"),
            Case(malformed: "http:///x"), Case(malformed: "ftp://host/"), Case(malformed: "host:80"),
            Case(malformed: "/%"), Case(malformed: "/%2"), Case(malformed: "/%zz"), Case(malformed: "/%0"),
            Case(malformed: "/%00"), Case(malformed: "/metrics%00x"), Case(malformed: "/%ff"),
            Case(malformed: "/%c0%af"),
            Case(malformed: "/%ed%a0%80"), Case(malformed: "?x"), Case(malformed: "/a b"), Case(malformed: "/a "),
            Case(malformed: "/a?b c"), Case(malformed: "/\t"), Case(malformed: "/a?\u{7F}"),
            Case(malformed: "/%20\u{1}"),
        ]
    }

    @Test(arguments: Case.all) func `A target is taken apart, or is malformed`(_ scenario: Case) {
        let parsed = try? HTTPRequestTarget(parsing: Array(scenario.target.utf8))
        #expect(parsed.map { [$0.path, $0.query] } == scenario.parts)
    }

    @Test(arguments: [(8192, nil), (8193, 414)] as [(Int, Int?)])
    func `A target may have 8 KiB`(_ count: Int, _ status: Int?) {
        do throws(HTTPRejection) {
            _ = try HTTPRequestTarget(parsing: [UInt8](repeating: UInt8(ascii: "/"), count: count))
            #expect(status == nil)
        } catch {
            #expect(error.status == status)
        }
    }
}
