import System
import Testing

@testable import WebSocket

struct WebSocketAddressTests {
    @Test(
        arguments: [
            ("ws://example.com", "example.com", 80, "/", "ws://example.com/", "example.com", nil),
            ("wss://example.com", "example.com", 443, "/", "wss://example.com/", "example.com", nil),
            ("WS://Example.COM:80/Feed", "example.com", 80, "/Feed", "ws://example.com/Feed", "example.com", nil),
            ("wss://example.com:80/", "example.com", 80, "/", "wss://example.com:80/", "example.com:80", nil),
            (
                "ws://127.0.0.1:8765/a/b?c=d&e", "127.0.0.1", 8765, "/a/b?c=d&e",
                "ws://127.0.0.1:8765/a/b", "127.0.0.1:8765", nil
            ),
            ("ws://127.0.0.1", "127.0.0.1", 80, "/", "ws://127.0.0.1/", "127.0.0.1", nil),
            ("ws://[::1]:9/x", "::1", 9, "/x", "ws://[::1]:9/x", "[::1]:9", nil),
            ("ws://[2001:DB8::1]", "2001:db8::1", 80, "/", "ws://[2001:db8::1]/", "[2001:db8::1]", nil),
            ("ws://host?token=t", "host", 80, "/?token=t", "ws://host/", "host", nil),
            ("wss://h/v1/0123456789abcdef/feed", "h", 443, "/v1/0123456789abcdef/feed", "wss://h/v1/…/feed", "h", nil),
            (
                "ws://h/air-quality-feed-of-a-city", "h", 80, "/air-quality-feed-of-a-city",
                "ws://h/air-quality-feed-of-a-city", "h", nil
            ),
            ("ws://user:pass@host/", "host", 80, "/", "ws://host/", "host", "Basic dXNlcjpwYXNz"),
            ("ws://user@host/", "host", 80, "/", "ws://host/", "host", "Basic dXNlcjo="),
            ("ws://a%40b:p%3Aq%2f@host/", "host", 80, "/", "ws://host/", "host", "Basic YUBiOnA6cS8="),
            ("ws://u:p@ss@host/", "host", 80, "/", "ws://host/", "host", "Basic dTpwQHNz"),
            (
                "ws://my_service.ns-1.svc:1/p@q", "my_service.ns-1.svc", 1, "/p@q",
                "ws://my_service.ns-1.svc:1/p@q", "my_service.ns-1.svc:1", nil
            ),
        ] as [(String, String, Int, String, String, String, String?)])
    func `An address is parsed into its parts and its label`(
        text: String, host: String, port: Int, target: String, label: String, hostHeader: String, authorization: String?
    ) throws {
        let address = try WebSocketAddress(text)
        #expect(address.isSecure == text.hasPrefix("wss"))
        #expect(address.host == host && address.port == port)
        #expect(address.target == target)
        #expect(address.label == label)
        #expect(address.hostHeader == hostHeader)
        #expect(address.authorization == authorization)
    }

    @Test(
        arguments: [
            ("it does not begin with ws:// or wss://", ["", "http://host/", "ws:/host"]),
            ("it has no host", ["ws://", "ws:///path", "ws://:80/", "ws://user:secret@/"]),
            (
                "its port is not a number from 1 to 65535",
                [
                    "ws://host:/", "ws://host:0/", "ws://host:65536/", "ws://host:+80/", "ws://host:80secret/",
                    "ws://[::1]80/",
                ]
            ),
            (
                "an IPv6 address must be in [ ], without a zone",
                ["ws://::1/", "ws://[::1/", "ws://::1]/", "ws://[host]/", "ws://[fe80::1%25lo]/"]
            ),
            ("its host has something other than letters, digits, '-', '.' and '_'", ["ws://ho%73t/"]),
            (
                "it has a blank, control or non-ASCII character; percent-encode it or use xn--",
                ["ws://host/a b", "ws://host/\r\nX: y", "ws://bücher.de/"]
            ),
            (
                "it holds two addresses; give each its own flag or line",
                [
                    "ws://a/,WS://b/", "ws://a/|ws://b/", "ws://a/,http://b/", "ws://a/ws://b/", "ws://a,wss://b",
                    "ws://a/?x=1;WS://b/",
                ]
            ),
            ("it has a fragment (#), which a WebSocket address cannot have", ["ws://host/#part"]),
            (
                "a % in its user or password is not followed by two hexadecimal digits",
                ["ws://u%zz:p@host/", "ws://u%4@host/"]
            ),
            ("it is longer than 8000 bytes", ["ws://host/\(String(repeating: "p", count: 8000))"]),
        ])
    func `An address that cannot be used is rejected with the reason`(reason: String, texts: [String]) {
        for text in texts {
            let error = #expect(throws: SystemError.self, "\(text)") { try WebSocketAddress(text) }
            #expect(error?.description == reason, "\(text)")
        }
    }
}
