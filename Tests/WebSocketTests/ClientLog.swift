import Bytes
import Synchronization
import TestSupport
import Testing

@testable import System
@testable import WebSocket

/// The events and messages of a client under test, for tests to wait for.
final class ClientLog: Sendable {
    struct Message: Equatable {
        let kind: WebSocketMessageKind
        let bytes: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    struct State {
        /// `connected` without the response's fields.
        var events: [WebSocketEvent] = []
        var messages: [Message] = []
        var hasReturned = false

        var texts: [String] { messages.map(\.text) }

        var disconnects: [DisconnectReason] {
            events.compactMap { event in
                if case .disconnected(let reason, _, _, _) = event { reason } else { nil }
            }
        }
    }

    private let state = Mutex(State())

    func add(_ event: WebSocketEvent) {
        let shown = if case .connected = event { WebSocketEvent.opened } else { event }
        state.withLock { $0.events.append(shown) }
    }

    func add(_ kind: WebSocketMessageKind, _ bytes: Span<UInt8>) {
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
        state.withLock { $0.messages.append(Message(kind: kind, bytes: copy)) }
    }

    func setReturned() { state.withLock { $0.hasReturned = true } }

    var current: State { state.withLock { $0 } }

    var texts: [String] { current.texts }
    var disconnects: [DisconnectReason] { current.disconnects }

    /// Waits for the condition; the test fails if it does not hold within half a minute.
    /// - Returns: the state in which it held; more may have happened since.
    @discardableResult func wait(
        for what: String, sourceLocation: SourceLocation = #_sourceLocation, until isTrue: (State) -> Bool
    ) -> State {
        var last = current
        let isThere = TestSupport.wait {
            last = current
            return isTrue(last)
        }
        if !isThere {
            Issue.record(
                "no \(what); events: \(last.events), messages: \(last.messages.count)", sourceLocation: sourceLocation)
        }
        return last
    }
}

extension WebSocketEvent { static let opened = WebSocketEvent.connected([]) }

/// Runs the body with a client that is stopped and awaited afterwards.
/// - Parameter afterMessage: called on the client's thread once a message is in the log.
func withClient(
    _ settings: WebSocketClientConfiguration,
    afterMessage: @escaping @Sendable (ClientLog) -> MessageOutcome = { _ in MessageOutcome() },
    _ body: (WebSocketClient, ClientLog) throws -> Void
) throws {
    let log = ClientLog()
    let client = WebSocketClient(
        configuration: settings, onEvent: { log.add($0) },
        onMessage: { kind, message in
            log.add(kind, message)
            return afterMessage(log)
        })
    let thread = try ServiceThread(name: "client") {
        client.run()
        log.setReturned()
    }
    defer {
        client.stop()
        thread.join()
    }
    try body(client, log)
}

/// Runs the body with a server that is stopped and awaited afterwards.
func withServer(_ given: WebSocketServer? = nil, _ body: (WebSocketServer) throws -> Void) throws {
    let server = try given ?? makeServer()
    let thread = try ServiceThread(name: "server") { server.run() }
    defer {
        server.stop()
        thread.join()
    }
    try body(server)
}

func makeServer(
    host: String = "127.0.0.1", port: Int = 0, _ change: (inout WebSocketServerConfiguration) -> Void = { _ in }
) throws -> WebSocketServer {
    var configuration = WebSocketServerConfiguration(address: .tcp(host: host, port: port))
    change(&configuration)
    return try WebSocketServer(configuration)
}

func configuration(port: Int, path: String = "/") throws -> WebSocketClientConfiguration {
    var configuration = WebSocketClientConfiguration(address: try WebSocketAddress("ws://127.0.0.1:\(port)\(path)"))
    configuration.reconnectMinimum = .milliseconds(20)
    configuration.reconnectMaximum = .milliseconds(100)
    return configuration
}
