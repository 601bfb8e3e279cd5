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
    ]) func addressesAreRead(_ text: String, _ expected: ListenAddress) throws {
        let address = try ListenAddress(text)
        #expect(address == expected)
        #expect(address.description == text)
    }

    @Test(arguments: [
        ("", "expected host:port"), ("10025", "expected host:port"), ("host", "expected host:port"),
        (":", "the port must be a number from 0 to 65535"), (":x", "the port must be"), (":65536", "the port must be"),
        (":-1", "the port must be"), (":+1", "the port must be"), ("host:", "the port must be"),
        (":000001", "the port must be"),
        ("::1:80", "an IPv6 address needs brackets"), ("[::1]", "the port must be"),
        ("[x]:80", "brackets hold an IPv6 address"),
        ("[::1:80", "brackets hold"), ("[]:80", "brackets hold"), ("http://x:80", "an IPv6 address needs brackets"),
        ("a b:80", "the host must be"), ("a/b:80", "the host must be"), ("unix:", "an absolute path"),
        ("unix:relative", "an absolute path"), ("unix:/" + String(repeating: "x", count: 107), "at most 107 bytes"),
    ]) func badAddressesAreRefused(_ text: String, _ reason: String) {
        let error = #expect(throws: SystemError.self) { try ListenAddress(text) }
        #expect(error?.reason.contains(reason) == true)
        #expect(error?.reason.hasPrefix("cannot listen on \"\(text)\": ") == true)
    }

    @Test func aPortInUseIsNamed() throws {
        let first = try serve(respond: echo)
        let address = ListenAddress.tcp(host: "127.0.0.1", port: try first.port)
        let error = #expect(throws: SystemError.self) {
            try HTTPServer(configuration: HTTPServerConfiguration(addresses: [address]), onRequest: echo)
        }
        #expect(error == SystemError(.address, "cannot listen on \(address): the address is in use"))
    }

    @Test func anAddressThatIsNotOursIsNamed() {
        let error = #expect(throws: SystemError.self) {
            try serve({ $0.addresses = [.tcp(host: "192.0.2.1", port: 0)] }, respond: echo)
        }
        #expect(error?.reason == "cannot listen on 192.0.2.1:0: Cannot assign requested address")
        let unknown = #expect(throws: SystemError.self) {
            try serve({ $0.addresses = [.tcp(host: "name.invalid", port: 0)] }, respond: echo)
        }
        #expect(unknown?.reason == "cannot listen on name.invalid:0: no such host")
    }

    @Test func allInterfacesAreIPv4AndIPv6() throws {
        let server = try serve({ $0.addresses = [.tcp(host: "", port: 0)] }, respond: echo)
        #expect(try server.connect().request("/").status == 200)
        #expect(try RawHTTPClient(port: server.port, isIPv6: true).request("/").status == 200)
    }

    // MARK: - unix

    private func withSocketPath(_ body: (String) throws -> Void) throws {
        let path = "/tmp/air-quality-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        defer { _ = unsafe unlink(path) }
        try body(path)
    }

    private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    @Test func unixSocketIsServedAndRemoved() throws {
        try withSocketPath { path in
            let server = try serve(
                { $0.addresses = [.unix(path: path), .tcp(host: "127.0.0.1", port: 0)] }, respond: echo)
            #expect(server.addresses.first == .unix(path: path))
            let client = try RawHTTPClient(path: path)
            for _ in 0..<3 { #expect(try client.request("/u").text == "GET|/u|") }
            #expect(try server.connect().request("/t").text == "GET|/t|")
            server.stop(within: .seconds(5))
            #expect(!exists(path))
        }
    }

    @Test func aStaleUnixSocketIsReplaced() throws {
        try withSocketPath { path in
            try abandonSocket(path)
            #expect(exists(path))
            let server = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            #expect(try RawHTTPClient(path: path).request("/").status == 200)
            server.stop(within: .zero)
        }
    }

    @Test func aLiveUnixSocketIsNotReplaced() throws {
        try withSocketPath { path in
            let first = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            let error = #expect(throws: SystemError.self) {
                try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            }
            #expect(error?.reason == "cannot listen on unix:\(path): another process listens on it")
            #expect(try RawHTTPClient(path: path).request("/").status == 200)
            first.stop(within: .zero)
        }
    }

    @Test func aFileIsNotReplaced() throws {
        try withSocketPath { path in
            close(unsafe open(path, O_CREAT | O_WRONLY, 0o600))
            let error = #expect(throws: SystemError.self) {
                try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            }
            #expect(error?.reason == "cannot listen on unix:\(path): there is a file that is not a socket")
            #expect(exists(path))
        }
    }

    /// Another server has taken the path since: its file stays.
    @Test func theSocketOfASuccessorStays() throws {
        try withSocketPath { path in
            let first = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            _ = unsafe unlink(path)
            let second = try serve({ $0.addresses = [.unix(path: path)] }, respond: echo)
            first.stop(within: .zero)
            #expect(try RawHTTPClient(path: path).request("/").status == 200)
            second.stop(within: .zero)
            #expect(!exists(path))
        }
    }

    /// A socket file on which nobody listens, as a killed process leaves it.
    private func abandonSocket(_ path: String) throws {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = unsafe withUnixAddress(Array(path.utf8)) { unsafe bind(number, $0, $1) }
        #expect(result == 0 && listen(number, 1) == 0)
        close(number)
    }

    // MARK: - systemd

    /// Gives both descriptors numbers that follow each other, as systemd does, and that no other test has.
    ///
    /// - Returns: the first.
    private func neighbours(_ one: Int32, _ other: Int32) -> Int32 {
        var lowest: Int32 = 100
        while true {
            let first = fcntl(one, F_DUPFD, lowest)
            let second = fcntl(other, F_DUPFD, first + 1)
            precondition(first >= 0 && second >= 0, "there are descriptors left")
            if second == first + 1 {
                close(one)
                close(other)
                return first
            }
            close(first)
            close(second)
            lowest = second
        }
    }

    @Test func socketsOfSystemdAreTaken() throws {
        let server = try serve(respond: echo)
        try withSocketPath { path in
            let unix = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            _ = unsafe withUnixAddress(Array(path.utf8)) { unsafe bind(unix, $0, $1) }
            listen(unix, 5)
            let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listen(tcp, 5)
            let first = neighbours(unix, tcp)
            let environment = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "2"]
            let sockets = try ListeningSocket.inherited(environment: { environment[$0] }, first: first)
            #expect(sockets.map(\.descriptor) == [first, first + 1])
            #expect(sockets[0].address == .unix(path: path))
            guard case .tcp("0.0.0.0", let port) = sockets[1].address else {
                Issue.record("not the TCP address")
                return
            }
            #expect(port != 0)
            #expect(fcntl(first, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(first, F_GETFL) & O_NONBLOCK != 0)
            #expect(exists(path))
        }
        _ = server
    }

    @Test(arguments: [
        [:], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "SELF"], ["LISTEN_FDS": "1"],
        ["LISTEN_PID": "SELF", "LISTEN_FDS": "0"], ["LISTEN_PID": "SELF", "LISTEN_FDS": "x"],
    ]) func withoutSocketsOfSystemdItIsSaid(_ variables: [String: String]) {
        let error = #expect(throws: SystemError.self) {
            try ListeningSocket.inherited(environment: { variables[$0] == "SELF" ? "\(getpid())" : variables[$0] })
        }
        #expect(error?.reason == "systemd has passed no sockets to this process")
    }

    @Test func aDescriptorThatIsNoListeningSocketIsNamed() {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]
        let error = #expect(throws: SystemError.self) {
            try ListeningSocket.inherited(environment: { variables[$0] }, first: number)
        }
        #expect(error?.reason == "descriptor \(number) from systemd is not a listening stream socket")
    }
}
