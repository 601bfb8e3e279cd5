import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import WebConfiguration

@Suite struct HTTPAuthenticationTests {
    /// Hashes of "correct horse": one takes a millisecond to check, the other most of a second.
    private static let quick = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
    private static let slow = "$2b$13$abcdefghijklmnopqrstuufJyGQz74MaXA58G4n4SAlu8WLjGODFe"

    private func web(hash: String = quick) -> WebConfiguration {
        var web = WebConfiguration()
        web.users[Array("alice".utf8)] = BcryptHash(hash)
        return web
    }

    private func serveWeb(_ web: WebConfiguration, meter: HTTPMeter? = nil) throws -> HTTPServer {
        try serve(meter: meter, open: ["/-/healthy", "/-/ready"], { $0.web = web }, respond: echo)
    }

    private func basic(_ user: String, _ password: String) -> String {
        "Authorization: Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    @Test func `Other requests are served while a password is checked`() throws {
        let server = try serveWeb(web(hash: Self.slow))
        let waiting = try server.connect()
        waiting.send("GET /slow HTTP/1.1\r\nHost: x\r\n\(basic("alice", "correct horse"))\r\n\r\n")
        let other = try server.connect()
        var served = 0
        while !waiting.hasBytes {
            #expect(try other.request("/-/healthy").status == 200)
            served += 1
        }
        #expect(served >= 2)
        #expect(try waiting.readResponse().text == "GET|/slow|")
        // The verdict is remembered.
        #expect(try other.request("/x", headers: [basic("alice", "correct horse")]).status == 200)
    }

    @Test func `Pipelined requests with passwords are answered in order`() throws {
        let server = try serveWeb(web())
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
        let server = try serveWeb(web(hash: Self.slow), meter: meter)
        for index in 0..<6 {
            let client = try server.connect(from: UInt8(2 + index))
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\(basic("alice", "same"))\r\n\r\n")
            #expect(try server.connect().request("/-/healthy").status == 200)
            if index % 2 == 0 { client.abort() } else { client.close() }
        }
        #expect(try server.connect().request("/", headers: [basic("alice", "correct horse")]).status == 200)
        eventually("the end of all requests") { meter.current.requestsInFlight == 0 }
    }

    @Test func `Stopping the server does not wait for a password check`() throws {
        let server = try serveWeb(web(hash: Self.slow.replacing("$13$", with: "$17$")))
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\(basic("alice", "x"))\r\n\r\n")
        eventually("the check is under way") { server.service.passwords.waiting == 1 }
        let isStopped = server.stop(within: .milliseconds(100))
        #expect(!isStopped)
        _ = try client.readToEnd()
    }
}
