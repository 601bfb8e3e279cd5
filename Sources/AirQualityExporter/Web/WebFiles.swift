import HTTPServer
import Logging
import Synchronization
import System
import WebConfiguration

/// The web configuration file and the files that it names, put in force again when they change.
///
/// A file that has become bad leaves the last good one in force.
final class WebFiles: Sendable {
    private let path: String?
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        var files: [String]
        var stamps: [FileStamp?]
        weak var server: HTTPServer?
    }

    /// What the server begins with.
    let first: WebConfiguration

    /// - Throws: one line that names the file and what is wrong in it.
    init(path: String?, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        // Stamped before reading: a change in between is then seen as one.
        let stamp = path.map { FileStamp($0) }
        first = if let path { try WebConfiguration(file: path) } else { WebConfiguration() }
        let others = first.files.dropFirst().map { FileStamp($0) }
        state = Mutex(State(files: first.files, stamps: (stamp.map { [$0] } ?? []) + others))
        for warning in first.warnings { logger.warning("\(warning)", metadata: ["file": "\(path ?? "")"]) }
    }

    func follow(_ server: HTTPServer) {
        state.withLock { $0.server = server }
    }

    /// Whether there is anything that can change.
    var isEmpty: Bool { path == nil }

    /// Reads the files again if they changed; to be called now and then.
    func poll() {
        guard path != nil else { return }
        let (files, stamps) = state.withLock { ($0.files, $0.stamps) }
        guard files.map({ FileStamp($0) }) != stamps else { return }
        _ = reload()
    }

    /// Reads the files again.
    ///
    /// - Returns: nil when they are in force, else why not, in one line.
    func reload() -> String? {
        guard let path else { return nil }
        do throws(SystemError) {
            var stamps = [FileStamp(path)]
            let configuration: WebConfiguration
            do throws(SystemError) {
                configuration = try WebConfiguration(file: path)
            } catch {
                // Told once for each state of the files.
                state.withLock { $0.stamps = $0.files.map { FileStamp($0) } }
                throw error
            }
            stamps += configuration.files.dropFirst().map { FileStamp($0) }
            let server = state.withLock { state in
                (state.files, state.stamps) = (configuration.files, stamps)
                return state.server
            }
            try server?.reload(configuration)
            logger.info("Web configuration loaded", metadata: ["file": "\(path)"])
            for warning in configuration.warnings { logger.warning("\(warning)", metadata: ["file": "\(path)"]) }
            return nil
        } catch {
            logger.error(
                "Web configuration is bad: the last good one stays in force",
                metadata: ["file": "\(path)", "err": "\(error.reason)"])
            return error.reason
        }
    }
}
