import TestSupport

@testable import System

/// An HTTP server that sends the next text for each request, whatever it asks for, and then runs a closure.
final class ScriptedServer {
    private struct State {
        var responses: [String]
        var requests: [String] = []
        var connectionCount = 0
    }

    private let state: Monitor<State>
    private let server: RawServer

    /// - Parameter afterwards: called for a request when no text is left.
    init(_ responses: String..., afterwards: @escaping @Sendable (RawServer.Connection) -> Void = { _ in }) {
        let state = Monitor(State(responses: responses))
        self.state = state
        server = RawServer { connection, _ in
            state.change { $0.connectionCount += 1 }
            while true {
                let request = connection.receive(upTo: "\r\n\r\n")
                guard request.hasSuffix("\r\n\r\n") else { return }
                let next = state.change { state in
                    state.requests.append(request)
                    return state.responses.isEmpty ? nil : state.responses.removeFirst()
                }
                guard let response = next else { return afterwards(connection) }
                connection.send(response)
                if response.contains("Connection: close") { return }
            }
        }
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)/" }
    var requests: [String] { state.read(\.requests) }
    var connectionCount: Int { state.read(\.connectionCount) }
}
