import Foundation
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HTTPAuthenticationTests {
    /// Waits in each check.
    private let gate = Gate()

    /// - Parameter isGated: whether a check waits for the gate.
    private func serveUsers(isGated: Bool = false, meter: HTTPMeter? = nil) throws -> HTTPServer {
        let right = Credentials(user: Array("alice".utf8), password: Array("correct horse".utf8))
        let users = HTTPAccess.Users(hashes: [:]) { [gate] credentials in
            if isGated { gate.wait() }
            return credentials == right
        }
        return try serve(meter: meter, open: ["/-/healthy", "/-/ready"], { $0.access.users = users }, respond: echo)
    }

    private func basic(_ user: String, _ password: String) -> String {
        "Authorization: Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    @Test func `Other requests are served while a password is checked`() throws {
        let server = try serveUsers(isGated: true)
        let waiting = try server.connect()
        waiting.send("GET /slow HTTP/1.1\r\nHost: x\r\n\(basic("alice", "correct horse"))\r\n\r\n")
        let other = try server.connect()
        for _ in 0..<2 { #expect(try other.request("/-/healthy").status == 200) }
        #expect(!waiting.hasBytes)
        gate.open()
        #expect(try waiting.readResponse().text == "GET|/slow|")
        // The verdict is remembered.
        #expect(try other.request("/x", headers: [basic("alice", "correct horse")]).status == 200)
    }

    @Test func `Pipelined requests with passwords are answered in order`() throws {
        let server = try serveUsers()
        let client = try server.connect()
        client.send(
            (0..<20).map {
                "GET /\($0) HTTP/1.1\r\nHost: x\r\n\(basic("alice", $0 % 2 == 0 ? "correct horse" : "\($0)"))\r\n\r\n"
            }.joined())
        for index in 0..<20 {
            let response = try client.readResponse()
            #expect(response.status == (index % 2 == 0 ? 200 : 401))
        }
    }

    @Test func `Clients that disconnect while their password is checked are forgotten`() throws {
        let meter = HTTPMeter()
        let server = try serveUsers(isGated: true, meter: meter)
        for index in 0..<6 {
            let client = try server.connect(from: UInt8(2 + index))
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\(basic("alice", "same"))\r\n\r\n")
            #expect(try server.connect().request("/-/healthy").status == 200)
            if index % 2 == 0 { client.abort() } else { client.close() }
        }
        for _ in 0..<7 { gate.open() }
        #expect(try server.connect().request("/", headers: [basic("alice", "correct horse")]).status == 200)
        eventually("the end of all requests") { meter.current.requestsInFlight == 0 }
    }

    @Test func `Stopping the server does not wait for a password check`() throws {
        let server = try serveUsers(isGated: true)
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\(basic("alice", "x"))\r\n\r\n")
        eventually("the check is under way") { server.service.passwords.count == 1 }
        let isStopped = server.stop(within: .milliseconds(100))
        #expect(!isStopped)
        gate.open()
        _ = try client.readToEnd()
    }

    @Test func `Health paths have no part in the rate limit, and a reload without a change keeps what is left`() throws
    {
        var access = HTTPAccess()
        access.rateLimit = HTTPAccess.RateLimit(interval: .seconds(3600), burst: 2)
        let server = try serve(open: ["/-/healthy"], { $0.access = access }, respond: echo)
        let client = try server.connect()
        for _ in 0..<3 { #expect(try client.request("/-/healthy").status == 200) }
        for status in [200, 200, 429] { #expect(try client.request("/").status == status) }
        #expect(try client.request("/-/healthy").status == 200)
        try server.adopt(access)
        #expect(try client.request("/").status == 429)
        access.rateLimit?.burst = 1
        try server.adopt(access)
        for status in [200, 429] { #expect(try client.request("/").status == status) }
    }
}
