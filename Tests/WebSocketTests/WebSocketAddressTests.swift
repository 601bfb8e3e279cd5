import System
import Testing

@testable import WebSocket

@Suite struct WebSocketAddressTests {
    struct Good: Sendable, CustomTestStringConvertible {
        var text: String
        var isSecure = false
        var host: String
        var port: Int
        var target: String
        var label: String
        var hostHeader: String
        var authorization: String?
        var testDescription: String { text }

        static let all: [Good] = [
            Good(
                text: "ws://example.com", host: "example.com", port: 80, target: "/", label: "ws://example.com/",
                hostHeader: "example.com"),
            Good(
                text: "wss://example.com", isSecure: true, host: "example.com", port: 443, target: "/",
                label: "wss://example.com/", hostHeader: "example.com"),
            Good(
                text: "WS://Example.COM:80/Feed", host: "example.com", port: 80, target: "/Feed",
                label: "ws://example.com/Feed", hostHeader: "example.com"),
            Good(
                text: "wss://example.com:80/", isSecure: true, host: "example.com", port: 80, target: "/",
                label: "wss://example.com:80/", hostHeader: "example.com:80"),
            Good(
                text: "ws://127.0.0.1:8765/a/b?c=d&e", host: "127.0.0.1", port: 8765, target: "/a/b?c=d&e",
                label: "ws://127.0.0.1:8765/a/b", hostHeader: "127.0.0.1:8765"),
            Good(
                text: "ws://127.0.0.1", host: "127.0.0.1", port: 80, target: "/", label: "ws://127.0.0.1/",
                hostHeader: "127.0.0.1"),
            Good(
                text: "ws://[::1]:9/x", host: "::1", port: 9, target: "/x", label: "ws://[::1]:9/x",
                hostHeader: "[::1]:9"),
            Good(
                text: "ws://[2001:DB8::1]", host: "2001:db8::1", port: 80, target: "/", label: "ws://[2001:db8::1]/",
                hostHeader: "[2001:db8::1]"),
            Good(
                text: "ws://host?token=t", host: "host", port: 80, target: "/?token=t", label: "ws://host/",
                hostHeader: "host"),
            Good(
                text: "ws://user:pass@host/", host: "host", port: 80, target: "/", label: "ws://host/",
                hostHeader: "host", authorization: "Basic dXNlcjpwYXNz"),
            Good(
                text: "ws://user@host/", host: "host", port: 80, target: "/", label: "ws://host/", hostHeader: "host",
                authorization: "Basic dXNlcjo="),
            Good(
                text: "ws://a%40b:p%3Aq%2f@host/", host: "host", port: 80, target: "/", label: "ws://host/",
                hostHeader: "host", authorization: "Basic YUBiOnA6cS8="),
            Good(
                text: "ws://u:p@ss@host/", host: "host", port: 80, target: "/", label: "ws://host/", hostHeader: "host",
                authorization: "Basic dTpwQHNz"),
            Good(
                text: "ws://my_service.ns-1.svc:1/p@q", host: "my_service.ns-1.svc", port: 1, target: "/p@q",
                label: "ws://my_service.ns-1.svc:1/p@q", hostHeader: "my_service.ns-1.svc:1"),
        ]
    }

    @Test("good addresses", arguments: Good.all) func reads(_ row: Good) throws {
        let address = try WebSocketAddress(row.text)
        #expect(address.isSecure == row.isSecure)
        #expect(address.host == row.host)
        #expect(address.port == row.port)
        #expect(address.target == row.target)
        #expect(address.label == row.label)
        #expect(address.hostHeader == row.hostHeader)
        #expect(address.authorization == row.authorization)
    }

    @Test(
        "bad addresses",
        arguments: [
            ("", "it does not begin with ws:// or wss://"),
            ("http://host/", "it does not begin with ws:// or wss://"),
            ("ws:/host", "it does not begin with ws:// or wss://"),
            ("ws://", "it has no host"),
            ("ws:///path", "it has no host"),
            ("ws://:80/", "it has no host"),
            ("ws://user:secret@/", "it has no host"),
            ("ws://host:/", "its port is not a number from 1 to 65535"),
            ("ws://host:0/", "its port is not a number from 1 to 65535"),
            ("ws://host:65536/", "its port is not a number from 1 to 65535"),
            ("ws://host:+80/", "its port is not a number from 1 to 65535"),
            ("ws://host:80secret/", "its port is not a number from 1 to 65535"),
            ("ws://::1/", "an IPv6 address has to stand in [ ]"),
            ("ws://[::1/", "its [ has no ]"),
            ("ws://[::1]80/", "something other than a port follows its ]"),
            ("ws://[host]/", "what stands between its [ and ] is not an IPv6 address"),
            ("ws://ho%73t/", "its host has something other than letters, digits, '-', '.' and '_'"),
            ("ws://host/a b", "it has a blank, a control character or one outside ASCII: percent-encode it"),
            ("ws://host/\r\nX: y", "it has a blank, a control character or one outside ASCII: percent-encode it"),
            ("ws://bücher.de/", "it has a blank, a control character or one outside ASCII: percent-encode it"),
            ("ws://host/#part", "it has a fragment (#), which a WebSocket address cannot have"),
            ("ws://u%zz:p@host/", "a % in its user or password is not followed by two hexadecimal digits"),
            ("ws://u%4@host/", "a % in its user or password is not followed by two hexadecimal digits"),
            ("ws://\(String(repeating: "h", count: 254))/", "its host is longer than 253 bytes"),
            ("ws://host/\(String(repeating: "p", count: 8000))", "its path and query are longer than 8000 bytes"),
        ])
    func refuses(text: String, reason: String) {
        let error = #expect(throws: SystemError.self) { try WebSocketAddress(text) }
        #expect(error?.description == reason)
    }

    @Test(
        "redirects",
        arguments: [
            ("ws://a/x/y?q", "/z", "ws://a/z"), ("ws://a/x/y?q", "z", "ws://a/x/z"),
            ("ws://a/x/y?q", "?r", "ws://a/x/y"), ("ws://a:1/x", "//b/z", "ws://b/z"),
            ("ws://a/x", "http://b:2/z", "ws://b:2/z"), ("ws://a/x", "HTTPS://b/z", "wss://b/z"),
            ("ws://a/x", "wss://b/z#f", "wss://b/z"), ("wss://a/x", "/z", "wss://a/z"),
            ("ws://[::1]:5/x", "y", "ws://[::1]:5/y"),
        ])
    func redirects(from: String, location: String, to: String) throws {
        #expect(try WebSocketAddress(from).redirected(to: location).label == to)
    }

    @Test(
        "redirects that are not followed",
        arguments: [
            ("wss://a/x", "ws://a/y", "it leaves wss:// for ws://"),
            ("wss://a/x", "http://a/y", "it leaves wss:// for ws://"),
            ("ws://a/x", "ftp://a/y", "it does not begin with ws:// or wss://"),
            ("ws://a/x", "http://", "it has no host"),
        ])
    func refusesRedirect(from: String, location: String, reason: String) throws {
        let from = try WebSocketAddress(from)
        let error = #expect(throws: SystemError.self) { try from.redirected(to: location) }
        #expect(error?.description == reason)
    }
}
