import Synchronization
import TestSupport

/// An HTTP server that answers each request with the next text, whatever it is, and then does as it is told.
final class ScriptedServer {
    private struct State {
        var answers: [String]
        var requests: [String] = []
        var connectionCount = 0
    }

    private final class Script: Sendable {
        let state: Mutex<State>

        init(_ answers: [String]) { state = Mutex(State(answers: answers)) }

        func answer(_ request: String) -> String? {
            state.withLock { state in
                state.requests.append(request)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
        }
    }

    private let script: Script
    private let server: RawServer

    /// - Parameter afterwards: what happens to a request when there is no further answer.
    init(_ answers: String..., afterwards: @escaping @Sendable (RawServer.Connection) -> Void = { _ in }) {
        let script = Script(answers)
        self.script = script
        server = RawServer { connection, _ in
            script.state.withLock { $0.connectionCount += 1 }
            while true {
                let request = connection.receive(upTo: "\r\n\r\n")
                guard request.hasSuffix("\r\n\r\n") else { return }
                guard let answer = script.answer(request) else { return afterwards(connection) }
                connection.send(answer)
                if answer.contains("Connection: close") { return }
            }
        }
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)/" }
    var requests: [String] { script.state.withLock { $0.requests } }
    var connectionCount: Int { script.state.withLock { $0.connectionCount } }
}
