import Glibc
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPListenTests {
    @Test(arguments: [
        (":10025", ListenAddress.tcp(host: "", port: 10025)), ("127.0.0.1:0", .tcp(host: "127.0.0.1", port: 0)),
        ("localhost:65535", .tcp(host: "localhost", port: 65535)), ("[::1]:80", .tcp(host: "::1", port: 80)),
        ("[fe80::1%eth0]:80", .tcp(host: "fe80::1%eth0", port: 80)), ("0.0.0.0:9", .tcp(host: "0.0.0.0", port: 9)),
        ("unix:/run/x.sock", .unix(path: "/run/x.sock")), ("unix:/a b", .unix(path: "/a b")),
    ]) func `A listen address is parsed and described`(_ text: String, _ expected: ListenAddress) {
        #expect(ListenAddress(text) == expected)
        #expect(expected.description == text)
    }

    @Test(arguments: [
        "", "10025", "host", ":", ":x", ":65536", ":-1", ":+1", "host:", ":000001", "::1:80", "[::1]", "[x]:80",
        "[::1:80", "[]:80", "http://x:80", "a b:80", "a/b:80", "unix:", "unix:relative",
        "unix:/" + String(repeating: "x", count: 107),
    ]) func `A malformed listen address is rejected`(_ text: String) { #expect(ListenAddress(text) == nil) }

    // MARK: - unix

    @Test func `A stopped server leaves the socket file of its successor`() throws {
        let path = "/tmp/air-quality-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        defer { _ = unsafe unlink(path) }
        let first = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
        _ = unsafe unlink(path)
        let second = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
        first.stop(within: .zero)
        #expect(try Subprocess(["curl", "-sS", "--unix-socket", path, "http://x/"]).text == "GET|/|")
        second.stop(within: .zero)
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test(arguments: [
        [:], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "SELF"], ["LISTEN_FDS": "1"],
        ["LISTEN_PID": "SELF", "LISTEN_FDS": "0"], ["LISTEN_PID": "SELF", "LISTEN_FDS": "x"],
    ]) func `The error says so if systemd has passed no sockets`(_ variables: [String: String]) {
        let error = #expect(throws: SystemError.self) {
            try ListeningSocket.inherited(environment: variables.mapValues { $0 == "SELF" ? "\(getpid())" : $0 })
        }
        #expect(error?.reason == "systemd has passed no sockets to this process")
    }
}
