import Testing

@testable import HTTPClient

struct HTTPOriginTests {
    @Test(arguments: [
        ("http://host", "http://host"), ("HTTPS://Host:8443/a?b", "https://host:8443"),
        ("https://[::1]:80/", "https://[::1]:80"), ("http://h?x", "http://h"), ("http://h#x", "http://h"),
    ])
    func `Scheme, host and port of an address`(url: String, origin: String) {
        #expect(HTTPOrigin(url).map { "\($0)" } == origin)
    }

    @Test(arguments: [
        "", "host", "ftp://host/", "http:/host", "http://", "http:///path", "http://me@host/", "http://me:secret@host/",
        "http://host:", "http://host:0", "http://host:65536", "http://host:8x", "http://[::1", "http://[::1]x", "://h",
    ])
    func `Anything else is no address`(url: String) {
        #expect(HTTPOrigin(url) == nil)
    }

    @Test(arguments: [
        ("https://a/x", "https://a/y", true), ("http://a:1/", "https://a:2/", true), ("https://a/", "http://a/", false),
        ("http://a/", "http://b/", false), ("http://a:1/", "http://a:2/", false), ("http://a/", "https://a.b/", false),
    ])
    func `A redirect stays on the host and does not leave TLS`(from: String, to: String, isAllowed: Bool) throws {
        #expect(try #require(HTTPOrigin(from)).mayRedirect(to: try #require(HTTPOrigin(to))) == isAllowed)
    }
}
