import Expectations

@testable import Bytes
@testable import System
@testable import WebSocket

/// Checks addresses, and the responses of a server to a handshake. A value that can be written again must be read back
/// as the same.
func checkAddresses(_ input: [UInt8]) {
    check(input, withOneOf: checks)
}

private let checks: [Check] = [
    feedAddress, listenAddress, handshake,
]

@Sendable private func feedAddress(_: [UInt8], _ text: String) {
    if text.utf8.contains(UInt8(ascii: "@")) {
        let secret = "ws://user:hunter2" + text
        expect(!masked(address: secret).contains("hunter2"), "shows a password: \(masked(address: secret))")
    }
    do throws(SystemError) {
        let address = try WebSocketAddress(text)
        let label = try WebSocketAddress(address.label)
        // A long host fills the label, which is cut after 128 bytes.
        let isCut = address.label.utf8.count == 128
        expect(
            isCut || (label.host == address.host && label.port == address.port && label.authorization == nil),
            "\(address) is \(label)")
    } catch {
        expectOneLine(error.description)
    }
}

@Sendable private func listenAddress(_: [UInt8], _ text: String) {
    guard let address = ListenAddress(text) else { return }
    let again = ListenAddress(address.description)
    expect(again == address, "\(address) is \(again?.description ?? "none")")
}

@Sendable private func handshake(_ bytes: [UInt8], _: String) {
    let accept = "\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: \(request.expectedAccept)\r\n"
    for status in [101, 103, 302, 503] {
        var reader = HTTPHeadReader(beginning: "HTTP/1.")
        var position = 0
        let response = Array("HTTP/1.1 \(status) X\(accept)".utf8) + bytes + Array("\r\n\r\n".utf8)
        guard let head = try? reader.read(response.span, at: &position) else { continue }
        expect(position <= response.count && head.fields.first("upgrade") == "websocket", "\(head)")
        switch HandshakeResponse(head, to: request, now: 1_795_236_585_252) {
        case .rejected(_, _, let retryAfter): expect(retryAfter ?? .zero >= .zero, "\(retryAfter ?? .zero)")
        case .accepted, .interim: break
        }
        _ = try? acceptHandshake(head, fields: [])
    }
}

/// The request that the responses are for.
private let request: HandshakeRequest = {
    let address = try! WebSocketAddress("ws://127.0.0.1/")
    return HandshakeRequest(
        address, fields: [], subprotocols: ["a"], userAgent: "b", key: [UInt8](repeating: 0, count: 16))
}()
