import Bytes
import CommandLine
import Foundation
import System
import TestSupport
import Testing
import WebSocket

@testable import AirQualityFeed

@Suite("The relay") struct RelayTests {
    private func configuration(_ arguments: String...) throws -> (
        options: RelayOptions, client: WebSocketClientConfiguration
    ) {
        guard case .run(let flags) = try Program.feed.parse(arguments: ["relay", "ws://feed/"] + arguments) else {
            throw FlagError("no run")
        }
        return (try flags.options(), try feedClient(of: flags, \RelayOptions.feed))
    }

    private func line(_ arguments: String...) throws -> String {
        let error = #expect(throws: FlagError.self) {
            guard case .run(let flags) = try Program.feed.parse(arguments: ["relay", "wss://feed/"] + arguments) else {
                return
            }
            _ = try feedClient(of: flags, \RelayOptions.feed)
        }
        return error?.line ?? ""
    }

    @Test("has its paths and no others") func paths() {
        let paths = RelayPaths(shards: 16)
        #expect(paths.route(at: "/") == .group(0))
        for shard in [0, 1, 15] {
            #expect(paths.route(at: "/shard/\(shard)/16") == .group(1 + shard))
            #expect(paths.path(of: 1 + shard) == "/shard/\(shard)/16")
            #expect(paths.shard(of: 1 + shard) == shard)
        }
        let served = "expected / or /shard/I/16 with I from 0 to 15"
        for path in [
            "/shard/16/16", "/shard/-1/16", "/shard/1", "/shard/1/16/", "/shard//16", "/shards/1/16", "/shard/01/16",
            "/shard/1/016", "//shard/1/16", "/x", "shard/1/16", "/shard/99999999999999999999/16",
        ] { #expect(paths.route(at: path) == .notFound(reason: served), "\(path)") }
        #expect(paths.route(at: "/shard/1/4") == .notFound(reason: "the feed is divided into 16, \(served)"))
    }

    @Test("reads its feed as it is told") func flags() throws {
        let directory = TemporaryDirectory()
        let file = directory.write("headers", "X-Key: 1\n")
        let relay = try configuration(
            "--shards=10000", "--header=X-Flag: 0", "--header-file=\(file)", "--idle-timeout=5s",
            "--reconnect-max=2s", "--max-message-bytes=1KiB", "--insecure-skip-verify", "--city-field=name",
            "--value-field=index")
        #expect(relay.options.shards == 10_000)
        #expect(relay.options.cityField == "name")
        #expect(relay.options.valueField == "index")
        #expect(relay.client.idleTimeout == .seconds(5))
        #expect(relay.client.reconnectMaximum == .seconds(2))
        #expect(relay.client.maximumMessageBytes == 1024)
        #expect(relay.client.tls.skipsVerification)
        let fields = [HTTPField(name: "X-Flag", value: "0"), HTTPField(name: "X-Key", value: "1")]
        #expect(try relay.client.headerFields() == fields)
        directory.write("headers", "secret\n")
        let expected = #"--header-file "\#(file)": expected "Name: value" in line 1"#
        #expect(throws: SystemError(.file, expected)) { try relay.client.headerFields() }
    }

    @Test("refuses files that no connection could use, at the start") func badFiles() throws {
        let directory = TemporaryDirectory()
        let file = directory.write("file", "Host: secret\n")
        #expect(
            try line("--header-file=\(file)")
                == #"--header-file "\#(file)": expected no header Host, which the handshake sets itself, in line 1"#)
        let pem = #"--ca-file "\#(file)": expected certificates of authorities in PEM: "#
        #expect(try line("--ca-file=\(file)").hasPrefix(pem))
        #expect(
            try line("--cert-file=\(file)", "--key-file=\(file)").hasPrefix(
                #"--cert-file "\#(file)": expected a certificate in PEM: "#))
    }

    @Test("greets while the feed speaks, and is silent when the feed has been for the idle time-out")
    func greeting() throws {
        var state = RelayState(try configuration("--idle-timeout=10s").options)
        #expect(state.greeting(of: nil, at: .seconds(1)) == [])
        let message = Array(#"[{"city":"A","aqi":1}]"#.utf8)
        #expect(state.take(.text, message.span, at: .seconds(100)).line == nil)
        #expect(state.greeting(of: 0, at: .seconds(110)) == [message])
        #expect(state.greeting(of: 0, at: .milliseconds(110_001)) == [])
        _ = state.take(.binary, message.span, at: .seconds(111))
        #expect(state.greeting(of: 0, at: .seconds(112)) == [], "what is not passed on is no sign of life")
        _ = state.take(.text, Array("[]".utf8).span, at: .seconds(120))
        #expect(state.greeting(of: 0, at: .seconds(121)) == [message])

        var patient = RelayState(try configuration("--idle-timeout=0").options)
        _ = patient.take(.text, message.span, at: .zero)
        #expect(patient.greeting(of: nil, at: .seconds(1_000_000)) == [message])
    }

    @Test("does not greet with cities that the feed has not named for long") func expired() throws {
        var state = RelayState(try configuration("--expire-after=1h", "--idle-timeout=0").options)
        _ = state.take(.text, Array(#"[{"city":"A"},{"city":"B"}]"#.utf8).span, at: .seconds(10))
        _ = state.take(.text, Array(#"[{"city":"A"}]"#.utf8).span, at: .seconds(20))
        #expect(state.greeting(of: nil, at: .seconds(3610)) == [Array(#"[{"city":"A"},{"city":"B"}]"#.utf8)])
        #expect(state.greeting(of: 0, at: .seconds(3611)) == [Array(#"[{"city":"A"}]"#.utf8)])
        #expect(state.greeting(of: 0, at: .seconds(3621)) == [])
    }

    @Test("sends an empty message to a shard that has had none for ten seconds, if the feed speaks")
    func signsOfLife() throws {
        var state = RelayState(try configuration("--shards=3").options)
        func take(_ text: String, at seconds: Double) -> [String] {
            let message = Array(text.utf8)
            guard case .parts(let parts) = state.take(.text, message.span, at: .seconds(seconds)).outcome else {
                return ["refused"]
            }
            return parts.map { "\($0.shard) " + String(decoding: $0.message, as: UTF8.self) }
        }
        // Without a city: shard 0.
        #expect(take("[1]", at: 100) == ["0 [1]"])
        #expect(take("[]", at: 105) == [])
        #expect(take("[1]", at: 109.9) == ["0 [1]"])
        #expect(take("[1]", at: 110) == ["0 [1]", "1 []", "2 []"])
        #expect(take("[]", at: 119.9) == [])
        #expect(take("[]", at: 120) == ["0 []", "1 []", "2 []"])
        #expect(take("5", at: 140) == ["refused"])
    }

    @Test("counts what it does not pass on, and says so once a minute and at the end") func refusals() throws {
        var state = RelayState(try configuration().options)
        func take(_ kind: WebSocketMessageKind, _ text: String, at seconds: Int) -> String? {
            let message = Array(text.utf8)
            return state.take(kind, message.span, at: .seconds(seconds)).line
        }
        #expect(state.summary == "passed on 0 messages")
        #expect(take(.text, "[]", at: 0) == nil)
        #expect(state.summary == "passed on 1 message")
        #expect(take(.text, "5", at: 1) == "did not pass on 1 message (1 not an array)")
        #expect(take(.text, "[", at: 2) == nil)
        #expect(take(.tooLarge(bytes: 9), "", at: 60) == nil)
        #expect(
            take(.binary, "[]", at: 61)
                == "did not pass on 4 messages (1 not text, 1 too large, 1 not JSON, 1 not an array)")
        #expect(take(.text, "[]", at: 62) == nil)
        #expect(
            state.summary == "passed on 2 messages, refused 4 messages "
                + "(1 not text, 1 too large, 1 not JSON, 1 not an array)")
    }
}
