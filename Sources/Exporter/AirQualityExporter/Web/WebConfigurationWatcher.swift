import HTTPServer
import Synchronization
import System
import WebConfiguration

/// A watcher of the web configuration file and the files that it names, which applies changes. An invalid file leaves
/// the previous configuration in force. All methods block while files are read.
final class WebConfigurationWatcher: Sendable {
    /// `nil` = nothing to watch.
    let path: String?
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        /// See `WebConfiguration.stamps`.
        var stamps: [String: FileStamp?] = [:]
        var hasPasswords = false
        /// Why the files are not in force.
        var problem: String?
        weak var server: HTTPServer?
    }

    /// The configuration that the server starts with.
    let initial: WebConfiguration

    /// - Throws: one line with the file and the problem.
    init(path: String?, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        initial = try path.map(WebConfiguration.init(file:)) ?? WebConfiguration()
        state = Mutex(State(stamps: initial.stamps, hasPasswords: initial.access.users != nil))
        logWarnings(of: initial)
    }

    func follow(_ server: HTTPServer) { state.withLock { $0.server = server } }

    /// Rereads the files if they have changed, or at every call while they are invalid: the fix may be in a file not
    /// watched. Returns whether they are in force; `nil` if they were not read.
    func check() -> Bool? {
        state.withLock { state in
            let isChanged = (try? FileStamp.stamps(of: Array(state.stamps.keys))) != state.stamps
            guard isChanged || state.problem != nil else { return nil }
            load(&state, logged: state.problem)
            return state.problem == nil
        }
    }

    /// Rereads the files. Returns `nil` if they are in force, else the problem in one line.
    func reload() -> String? {
        state.withLock { state in
            load(&state, logged: nil)
            return state.problem
        }
    }

    /// Applies the files, or logs the problem unless it was `logged` before. Does nothing while there is no server: the
    /// first check then detects any change.
    private func load(_ state: inout State, logged: String?) {
        guard let path, let server = state.server else { return }
        do throws(SystemError) {
            let configuration = try WebConfiguration(file: path)
            let access = configuration.access
            guard access.users != nil || !state.hasPasswords else {
                // An incomplete file must not disable passwords.
                throw SystemError(
                    .content,
                    "web configuration \(path): basic_auth_users is empty and passwords are in force, "
                        + "expected a user; restart to serve without passwords")
            }
            try server.adopt(access)
            let isSame = configuration.stamps == state.stamps && state.problem == nil
            state = State(stamps: configuration.stamps, hasPasswords: access.users != nil, server: server)
            logger.info("Web configuration \(isSame ? "unchanged" : "loaded")", metadata: ["file": path])
            if !isSame { logWarnings(of: configuration) }
        } catch {
            state.problem = error.reason
            guard error.reason != logged else { return }
            logger.error(
                "Error loading web configuration: keeping the previous one",
                metadata: ["file": path, "err": error.reason])
        }
    }

    private func logWarnings(of configuration: WebConfiguration) {
        for warning in configuration.warnings { logger.warning(warning, metadata: ["file": path ?? ""]) }
    }
}
