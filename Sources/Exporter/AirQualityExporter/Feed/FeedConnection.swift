import Bytes
import CommandLine
import System
import WebSocket

extension WebSocketClientConfiguration {
    init(_ address: WebSocketAddress, _ connection: Configuration.Connection) {
        self.init(address: address)
        headers = {
            do throws(UnusableFile) {
                return .success(try connection.headerFields())
            } catch {
                return .failure(SystemError(.file, error.line))
            }
        }
        subprotocols = connection.subprotocols
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

/// A file that a flag names and no connection can be made with.
struct UnusableFile: Error {
    /// That the flag sets.
    var member: any PartialKeyPath<Configuration> & Sendable
    var path: String
    /// What would be right; nothing of the file's content, which may be secret.
    var expected: String

    var line: String { "\(Configuration.flag(member)) \(quoted(path)): expected \(expected)" }
}

extension Configuration.Connection {
    /// Reads the files as each connection does.
    func checkFiles() throws(UnusableFile) {
        do throws(WebSocketTLSError) {
            try tls.check()
        } catch {
            throw unusable(error)
        }
        _ = try headerFields()
    }

    /// Looks whether the next connection can be made with the files as they are now.
    ///
    /// - Returns: nil, or what is wrong in one line, which is logged as well.
    func reload(logger: Logger) -> String? {
        do throws(UnusableFile) {
            try checkFiles()
            return nil
        } catch {
            logger.error("Cannot connect to feeds: unusable file", metadata: ["err": "\(error.line)"])
            return error.line
        }
    }

    private func unusable(_ error: WebSocketTLSError) -> UnusableFile {
        let (member, path): (any PartialKeyPath<Configuration> & Sendable, String?) =
            switch error.source {
            case .authorities: (\.feed.tls.caFile, tls.caFile)
            case .certificate: (\.feed.tls.certificateFile, tls.certificateFile)
            case .key: (\.feed.tls.keyFile, tls.keyFile)
            }
        return UnusableFile(member: member, path: path ?? "", expected: error.expected)
    }

    /// Those of the flags, then those of the file as it is now.
    func headerFields() throws(UnusableFile) -> [HTTPField] {
        guard let headerFile else { return headers }
        do throws(HeaderFileError) {
            return headers + (try HTTPField.read(headerFile))
        } catch {
            let expected = error.expected(instead: \.flagOrFieldInstead)
            throw UnusableFile(member: \.feed.headerFile, path: headerFile, expected: expected)
        }
    }
}

extension HTTPField {
    /// Completes an error about a reserved field: the flag that sets it, if there is one.
    var flagOrFieldInstead: String {
        name.lowercased() == "sec-websocket-protocol"
            ? "\(Configuration.flag(\.feed.subprotocols)) instead of the header \(name)" : expectedInstead
    }
}
