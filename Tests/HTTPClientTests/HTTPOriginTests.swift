import Testing

@testable import HTTPClient

struct HTTPOriginTests {
    @Test(arguments: [
        ("http://host", "http://host"), ("HTTPS://Host:8443/a?b", "https://host:8443"),
        ("https://[::1]:80/", "https://[::1]:80"), ("http://h?x", "http://h"), ("http://h#x", "http://h"),
        // Kept as written, so that the rest of the address can follow it.
        ("http://127.1/a", "http://127.1"), ("http://%68/a", "http://%68"),
    ])
    func `The origin of an address is its scheme, host and port`(url: String, origin: String) {
        #expect(httpOrigin(of: url) == origin)
    }

    @Test(arguments: [
        "", "host", "ftp://host/", "http:/host", "http://", "http:///path", "http://:80/", "http://me@host/",
        "http://me:secret@host/", "http://host:", "http://host:0", "http://host:65536", "http://host:8x", "http://[::1",
        "http://[::1]x", "://h",
    ])
    func `An address that is not valid for HTTP or has a user has no origin`(url: String) {
        #expect(httpOrigin(of: url) == nil)
    }
}
