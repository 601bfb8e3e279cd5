import HTTPServer
import Synchronization
import System
import WebConfiguration

/// The web configuration file and the files that it names, put in force again when they change. A bad file leaves the
/// last good one in force. All methods block while files are being read.
final class WebConfigurationWatcher: Sendable {
    /// The file; `nil`: there is nothing to watch.
    let path: String?
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        /// The files as they were just before they were read: a change in between is then seen as one.
        var stamps: [String: FileStamp?] = [:]
        /// Whether passwords are in force.
        var hasPasswords = false
        /// The reason why the files are not in force.
        var problem: String?
        weak var server: HTTPServer?
    }

    /// The configuration that the server begins with.
    let initial: WebConfiguration

    /// - Throws: one line that names the file and what is wrong in it.
    init(path: String?, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        let (configuration, stamps) = try path.map(Self.read) ?? (WebConfiguration(), [:])
        initial = configuration
        state = Mutex(State(stamps: stamps, hasPasswords: !configuration.users.isEmpty))
        logWarnings(of: configuration)
    }

    func follow(_ server: HTTPServer) { state.withLock { $0.server = server } }

    /// Reads the files again if they have changed; while invalid, at every call: the fix may be in a file not watched.
    /// Returns whether they are in force; `nil` when they were not read.
    func check() -> Bool? {
        state.withLock { state in
            let isChanged = (try? FileStamp.stamps(of: Array(state.stamps.keys))) != state.stamps
            guard isChanged || state.problem != nil else { return nil }
            load(&state, told: state.problem)
            return state.problem == nil
        }
    }

    /// Reads the files again; `nil` when they are in force, else why not, in one line.
    func reload() -> String? {
        state.withLock { state in
            load(&state, told: nil)
            return state.problem
        }
    }

    /// Puts the files in force, or logs why not, unless that was `told` before. Does nothing before there is a server:
    /// the first check sees what has changed until then.
    private func load(_ state: inout State, told: String?) {
        guard let path, let server = state.server else { return }
        do throws(SystemError) {
            let (configuration, stamps) = try Self.read(path)
            guard !configuration.users.isEmpty || !state.hasPasswords else {
                // Half a file must not open what passwords protect.
                throw SystemError(
                    .system,
                    "web configuration \(path): basic_auth_users is empty and passwords are in force, "
                        + "expected a user; restart to serve without passwords")
            }
            try server.reload(configuration)
            let isSame = stamps == state.stamps && state.problem == nil
            state = State(stamps: stamps, hasPasswords: !configuration.users.isEmpty, server: server)
            logger.info("Web configuration \(isSame ? "unchanged" : "loaded")", metadata: ["file": path])
            if !isSame { logWarnings(of: configuration) }
        } catch {
            state.problem = error.reason
            guard error.reason != told else { return }
            logger.error(
                "Error loading web configuration: keeping the previous one",
                metadata: ["file": path, "err": error.reason])
        }
    }

    private static func read(_ path: String) throws(SystemError) -> (WebConfiguration, [String: FileStamp?]) {
        var stamps: [String: FileStamp?] = [:]
        let configuration = try WebConfiguration(file: path) { (path) throws(SystemError) in
            stamps.merge(try FileStamp.stamps(of: [path])) { $1 }
        }
        return (configuration, stamps)
    }

    private func logWarnings(of configuration: WebConfiguration) {
        for warning in configuration.warnings { logger.warning(warning, metadata: ["file": path ?? ""]) }
    }
}
