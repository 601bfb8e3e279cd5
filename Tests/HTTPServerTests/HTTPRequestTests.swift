import Testing

@testable import HTTPServer

@Suite struct HTTPRequestTests {
    @Test(
        arguments: [
            ("/", "/", ""), ("/metrics", "/metrics", ""), ("/metrics?", "/metrics", ""),
            ("/metrics?a=b&c=%20+", "/metrics", "a=b&c=%20+"), ("/a?b?c", "/a", "b?c"), ("/a%20b", "/a b", ""),
            ("/%6D%65trics", "/metrics", ""), ("/%e0%a4%a6", "/द", ""), ("//metrics", "//metrics", ""),
            ("/../metrics", "/../metrics", ""), ("/%2e%2e/x", "/../x", ""), ("/metrics/", "/metrics/", ""),
            ("/metrics%2f", "/metrics/", ""), ("/a%3Fb", "/a?b", ""), ("/metrics#x", "/metrics#x", ""),
            ("*", "*", ""), ("/%25", "/%", ""), ("http://host/metrics?x", "/metrics", "x"),
            ("HTTPS://host:1/", "/", ""), ("http://host", "/", ""), ("http://host?q", "/", "q"),
        ])
    func `A request target is split into its path and query`(target: String, path: String, query: String) throws {
        let parsed = try HTTPRequest(method: "GET", target: Array(target.utf8))
        #expect(parsed.path == path && parsed.query == query)
    }

    @Test(arguments: [
        "", "metrics", "**", "http://", "http:///x", "http://host:http/", "http://user@host/", "http://host:80x?y",
        "ftp://host/", "host:80", "/%", "/%2", "/%zz", "/%0", "/%00",
        "/metrics%00x", "/%ff", "/%c0%af", "/%ed%a0%80", "?x", "/a b", "/a ", "/a?b c", "/\t", "/a?\u{7F}",
        "/%20\u{1}",
    ])
    func `A malformed request target is rejected`(target: String) {
        #expect(throws: HTTPResponse.Rejection.self) { try HTTPRequest(method: "GET", target: Array(target.utf8)) }
    }
}
