import TestSupport
import Testing

@testable import WebSocket

extension RawServer.Connection {
    /// Reads the request and accepts it as RFC 6455 requires.
    func acceptWebSocket() {
        let request = receive(upTo: "\r\n\r\n")
        let key = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(webSocketAccept(key: String(key)))\r\n\r\n")
    }

    /// The opcode and the payload of a client's frame; `nil` at the end of the stream.
    func receiveFrame() -> (opcode: UInt8, payload: [UInt8])? {
        let head = receive(count: 2)
        guard head.count == 2 else { return nil }
        #expect(head[0] & 0xF0 == 0x80, "final, no reserved bit")
        #expect(head[1] & 0x80 == 0x80, "masked")
        var length = Int(head[1] & 0x7F)
        if length == 126 { length = receive(count: 2).reduce(0) { $0 << 8 | Int($1) } }
        let mask = receive(count: 4)
        let payload = receive(count: length)
        guard mask.count == 4, payload.count == length else { return nil }
        return (head[0] & 0x0F, payload.enumerated().map { $1 ^ mask[$0 % 4] })
    }
}

/// Runs the body with a client of a server that handles each connection with the closure.
func withPeer(
    _ serve: @escaping @Sendable (RawServer.Connection, Int) -> Void,
    _ body: (WebSocketClient, ClientLog) throws -> Void
) throws {
    let server = RawServer(serve)
    defer { server.stop() }
    try withClient(configuration(port: server.port)) { client, log in
        // Before the client stops, which would wait for a reply to its close frame.
        defer { server.stop() }
        try body(client, log)
    }
}
