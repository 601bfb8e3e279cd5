import HTTPServer
import Synchronization
import System
import WebConfiguration

/// The web configuration file and the files that it names, put in force again when they change.
///
/// A file that has become bad leaves the last good one in force.
final class WebConfigurationWatcher: Sendable {
    private let path: String?
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        var files: [String]
        var stamps: [FileStamp?]
        /// Why they are not in force.
        var badReason: String?
        weak var server: HTTPServer?
    }

    /// What the server begins with.
    let first: WebConfiguration

    /// - Throws: one line that names the file and what is wrong in it.
    init(path: String?, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        let stamps: [FileStamp?]
        (first, stamps) = if let path { try Self.read(path) } else { (WebConfiguration(), []) }
        state = Mutex(State(files: first.files, stamps: stamps))
        for warning in first.warnings { logger.warning("\(warning)", metadata: ["file": "\(path ?? "")"]) }
    }

    func follow(_ server: HTTPServer) {
        state.withLock { $0.server = server }
    }

    /// Whether there is anything that can change.
    var isEmpty: Bool { path == nil }

    /// Reads the files again if they changed; to be called now and then.
    ///
    /// While they are invalid, every call reads them: the fix may be in a file that was not being watched.
    func poll() {
        guard path != nil else { return }
        let (files, stamps, badReason) = state.withLock { ($0.files, $0.stamps, $0.badReason) }
        guard badReason != nil || files.map({ FileStamp($0) }) != stamps else { return }
        _ = reload(toldReason: badReason)
    }

    /// The configuration with the stamps of its files. Stamped before reading: a change in between is then seen as one.
    private static func read(_ path: String) throws(SystemError) -> (WebConfiguration, [FileStamp?]) {
        let stamps = try WebConfiguration(file: path).files.map { FileStamp($0) }
        return (try WebConfiguration(file: path), stamps)
    }

    /// Reads the files again.
    ///
    /// - Returns: nil when they are in force, else why not, in one line.
    func reload() -> String? {
        reload(toldReason: nil)
    }

    /// - Parameter toldReason: is not logged once more.
    private func reload(toldReason: String?) -> String? {
        guard let path else { return nil }
        do throws(SystemError) {
            let (configuration, stamps) = try Self.read(path)
            let server = state.withLock { state in
                (state.files, state.stamps) = (configuration.files, stamps)
                return state.server
            }
            try server?.reload(configuration)
            state.withLock { $0.badReason = nil }
            logger.info("Web configuration loaded", metadata: ["file": "\(path)"])
            for warning in configuration.warnings { logger.warning("\(warning)", metadata: ["file": "\(path)"]) }
            return nil
        } catch {
            state.withLock { $0.badReason = error.reason }
            guard error.reason != toldReason else { return error.reason }
            logger.error(
                "Web configuration is bad: the last good one stays in force",
                metadata: ["file": "\(path)", "err": "\(error.reason)"])
            return error.reason
        }
    }
}
