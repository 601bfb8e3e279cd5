import FeedSimulation

@testable import AirQuality
@testable import Bytes
@testable import CommandLine
@testable import HTTPServer
@testable import JSON
@testable import System
@testable import WebConfiguration
@testable import WebSocket

/// The small texts that others write: fields of requests and of answers, addresses, flags, recordings. The first byte
/// says what the others are. Where a value can be written again, it must be read as the same.
public func checkFields(_ input: [UInt8]) {
    guard let kind = input.first.map({ Int($0) - 0x30 }), checks.indices.contains(kind) else { return }
    let bytes = Array(input.dropFirst())
    checks[kind](bytes, String(decoding: bytes, as: UTF8.self))
}

/// From the byte `0` up. New ones go to the end, because the inputs that are kept have the places in them.
private let checks: [@Sendable (_ bytes: [UInt8], _ text: String) -> Void] = [
    requestTarget, accept, authorization, historyQuery, feedAddress, redirect, listenAddress, handshake, pointer,
    goDuration, prometheusDuration, numbers, feedTime, base64, recording, commandLine,
]

@Sendable private func requestTarget(_ bytes: [UInt8], _: String) {
    guard case .valid(let path, let query) = HTTPRequestTarget(parsing: bytes.span, limit: 4096) else { return }
    expect(!path.isEmpty && !path.utf8.contains(0), "path \(path)")
    expect(path.utf8.count + query.utf8.count <= bytes.count + 1, "\(path) and \(query) grew")
}

@Sendable private func accept(_: [UInt8], _ text: String) {
    let accepted = AcceptedFormat.negotiate(text)
    expectOneLine(accepted.contentType)
    let offer = accepted.contentType
    // Prometheus repeats what it was sent; what we call a format must be how we know it.
    expect(AcceptedFormat.negotiate(offer).format == accepted.format, "\(offer) is not what it says")
    _ = prefersGzip(acceptEncoding: text)
}

@Sendable private func authorization(_: [UInt8], _ text: String) {
    guard let credentials = BasicCredentials(authorization: text) else { return }
    let again = BasicCredentials(
        authorization: "Basic " + encodeBase64(credentials.user + [UInt8(ascii: ":")] + credentials.password))
    expect(again == credentials, "\(credentials) and \(String(describing: again))")
}

@Sendable private func historyQuery(_: [UInt8], _ text: String) {
    do throws(HistoryQuery.Failure) {
        let query = try HistoryQuery(text)
        expect(query.limit ?? 1 >= 1 && query.since ?? 0 >= 0, "\(query)")
    } catch {
        expectOneLine(error.line)
    }
}

@Sendable private func feedAddress(_: [UInt8], _ text: String) {
    if text.utf8.contains(UInt8(ascii: "@")) {
        let secret = "ws://user:hunter2" + text
        expect(!masked(address: secret).contains("hunter2"), "shows a password: \(masked(address: secret))")
    }
    do throws(WebSocketAddressError) {
        let address = try WebSocketAddress(text)
        let label = try WebSocketAddress(address.label)
        expect(
            label.host == address.host && label.port == address.port && label.authorization == nil,
            "\(address) is \(label)")
    } catch {
        expectOneLine(error.description)
    }
}

@Sendable private func redirect(_: [UInt8], _ text: String) {
    do throws(WebSocketAddressError) {
        let here = try WebSocketAddress("wss://user:secret@[::1]:8443/a/b?c=d")
        let next = try here.redirected(to: text)
        expect(next.isSecure, "from wss to ws: \(next)")
        expect(next.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "target \(next.target)")
    } catch {
        expectOneLine(error.description)
    }
}

@Sendable private func listenAddress(_: [UInt8], _ text: String) {
    do throws(SystemError) {
        let address = try ListenAddress(text)
        let again = try ListenAddress(address.description)
        expect(again == address, "\(address) is \(again)")
    } catch {
        expectOneLine(error.reason)
    }
}

@Sendable private func handshake(_ bytes: [UInt8], _: String) {
    let accept = "\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: \(request.expectedAccept)\r\n"
    for status in [101, 103, 302, 503] {
        var reader = HTTPHeadReader(beginning: "HTTP/1.")
        var position = 0
        let answer = Array("HTTP/1.1 \(status) X\(accept)".utf8) + bytes + Array("\r\n\r\n".utf8)
        guard let head = try? reader.read(answer.span, at: &position) else { continue }
        expect(position <= answer.count && head.fields.first("upgrade") == "websocket", "\(head)")
        switch HandshakeAnswer(head, to: request, now: 1_795_236_585_252) {
        case .refused(_, let retryAfter): expect(retryAfter ?? .zero >= .zero, "\(retryAfter ?? .zero)")
        case .accepted, .redirected, .interim: break
        }
        _ = ServerHandshake(head, fields: [])
    }
}

/// That the answers are for.
private let request: HandshakeRequest = {
    let dial = ConnectionState.Dial(
        ipAddress: "127.0.0.1", address: try! WebSocketAddress("ws://127.0.0.1/"), isTrusted: true)
    return try! HandshakeRequest(dial, fields: [], subprotocols: ["a"], key: [UInt8](repeating: 0, count: 16))
}()

@Sendable private func pointer(_: [UInt8], _ text: String) {
    guard let pointer = JSONPointer(text) else { return }
    let again = pointer.tokens.map { token in
        "/" + String(decoding: token, as: UTF8.self).replacing("~", with: "~0").replacing("/", with: "~1")
    }
    expect(again.joined().utf8.elementsEqual(text.utf8), "\(text) and \(again)")
}

@Sendable private func goDuration(_: [UInt8], _ text: String) {
    guard let nanoseconds = parseGoDuration(text) else { return }
    expect(parseGoDuration("\(nanoseconds)ns") == nanoseconds, "\(text) is \(nanoseconds)")
}

@Sendable private func prometheusDuration(_: [UInt8], _ text: String) {
    guard let duration = ValueFormat.duration().parse(text) else { return }
    expect(ValueFormat.duration().parse(duration.prometheusText) == duration, "\(text) is \(duration.prometheusText)")
}

@Sendable private func numbers(_: [UInt8], _ text: String) {
    _ = ValueFormat<Int>.integer(in: 0...7).parse(text)
    _ = ValueFormat<Int>.bytes().parse(text)
    _ = ValueFormat<UInt64>.seed.parse(text)
    _ = ValueFormat<Double>.number(in: 0...7).parse(text)
}

@Sendable private func feedTime(_ bytes: [UInt8], _: String) {
    guard let time = parseRFC3339(bytes.span), (0...253_402_300_799_999).contains(time) else { return }
    var text: [UInt8] = []
    text.appendRFC3339(time)
    expect(parseRFC3339(text.span) == time, "\(time) is \(String(decoding: text, as: UTF8.self))")
}

@Sendable private func base64(_ bytes: [UInt8], _: String) {
    guard let decoded = decodeBase64(bytes[...]) else { return }
    expect(decodeBase64(Array(encodeBase64(decoded).utf8)[...]) == decoded, "\(decoded) is another in base64")
}

@Sendable private func recording(_ bytes: [UInt8], _: String) {
    do throws(RecordingError) {
        let recording = try Recording(bytes)
        for step in 0..<recording.stepCount {
            expect(String(validating: recording.message(step), as: UTF8.self) != nil, "UTF-8 of message \(step)")
            expect(recording.gap(before: step) ?? .zero >= .zero, "a gap of less than nothing")
        }
    } catch {
        expectOneLine(error.reason)
    }
}

@Sendable private func commandLine(_ bytes: [UInt8], _: String) {
    let arguments = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    do throws(FlagError) {
        if case .run(let flags) = try program.parse(
            arguments: arguments, environment: { $0.hasSuffix("URL") ? arguments.last : nil }),
            flags.command.name.isEmpty
        {
            _ = try flags.options(RunOptions.self)
        }
    } catch {
        expectOneLine(error.line)
    }
}

private let program = Program(
    name: "program", summary: "a program", environmentPrefix: "PROGRAM",
    commands: [
        Command(summary: "runs", options: RunOptions.self),
        Command(name: "replay", summary: "replays", operands: [Operand("FILE", .files)], options: ReplayOptions.self),
    ])

private struct RunOptions: Options {
    var urls: [String] = []
    var header: String?
    var limit = 7
    var isQuiet = false

    static let flags: [Flag<Self>] = [
        Flag("feed.url", \.urls, .nonEmptyText, secrecy: .address, "where from"),
        Flag("feed.header", \.header, .text, secrecy: .whole, "sent"),
        Flag("limit", \.limit, .integer(in: 0...7), "how many"),
        Flag("quiet", \.isQuiet, "says less"),
    ]
}

private struct ReplayOptions: Options {
    static let flags: [Flag<Self>] = []
}
