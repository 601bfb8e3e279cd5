import System
import WebSocket

extension WebSocketClientConfiguration {
    init(_ address: WebSocketAddress, _ connection: Configuration.Connection) {
        self.init(address: address)
        headers = { connection.headerFields().map { fields in fields.map { ($0.name, $0.value) } } }
        subscriptions = connection.subscriptions
        tls = connection.tls
        connectTimeout = connection.connectTimeout
        pingInterval = connection.pingInterval
        pongTimeout = connection.pongTimeout
        idleTimeout = connection.idleTimeout
        reconnectMinimum = connection.reconnectMinimum
        reconnectMaximum = connection.reconnectMaximum
        maximumMessageBytes = connection.maximumMessageBytes
    }
}

extension Configuration.Connection {
    private static let maximumHeaderFileBytes = 64 << 10

    /// Those of the flags, then those of the file as it is now.
    func headerFields() -> Result<[HeaderField], SystemError> {
        guard let headerFile else { return .success(headers) }
        do throws(SystemError) {
            let text = String(decoding: try readFile(headerFile, limit: Self.maximumHeaderFileBytes), as: UTF8.self)
            return HeaderField.parse(file: text).map { headers + $0 }.mapError { line in
                // The line itself may be a secret.
                SystemError(
                    .file, "header file \"\(headerFile)\", line \(line.number): expected \"Name: value\"")
            }
        } catch {
            return .failure(error)
        }
    }
}
