import HTTPServer
import Synchronization
import System
import WebConfiguration

/// The web configuration file and the files that it names, put in force again when they change. A bad file leaves the
/// last good one in force. The methods that read block as long as the files do; one is called at a time.
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
        var badReason: String?
        weak var server: HTTPServer?
    }

    /// The configuration that the server begins with.
    let initial: WebConfiguration

    /// - Throws: one line that names the file and what is wrong in it.
    init(path: String?, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        var state = State()
        initial =
            try path.map { path throws(SystemError) in
                try WebConfiguration(file: path) { state.stamps[$0] = FileStamp($0) }
            } ?? WebConfiguration()
        state.hasPasswords = !initial.users.isEmpty
        self.state = Mutex(state)
        logWarnings(of: initial)
    }

    func follow(_ server: HTTPServer) { state.withLock { $0.server = server } }

    /// Reads the files again if they have changed; while invalid, at every call: the fix may be in a file not watched.
    /// Returns whether they are in force; `nil` when they were not read.
    func check() -> Bool? {
        let (badReason, stamps) = state.withLock { ($0.badReason, $0.stamps) }
        guard badReason != nil || stamps.contains(where: { FileStamp($0.key) != $0.value }) else { return nil }
        return reload(toldReason: badReason) == nil
    }

    /// Reads the files again; `nil` when they are in force, else why not, in one line. Logs no `toldReason` again.
    func reload(toldReason: String? = nil) -> String? {
        guard let path else { return nil }
        let old = state.withLock(\.self)
        var new = State(server: old.server)
        do throws(SystemError) {
            let configuration = try WebConfiguration(file: path) { new.stamps[$0] = FileStamp($0) }
            new.hasPasswords = !configuration.users.isEmpty
            guard new.hasPasswords || !old.hasPasswords else {
                // Half a file must not open what passwords protect.
                throw SystemError(
                    .system,
                    "web configuration \(path): basic_auth_users is empty and passwords are in force, "
                        + "expected a user; restart to serve without passwords")
            }
            try old.server?.reload(configuration)
            let isSame = new.stamps == old.stamps && old.badReason == nil
            logger.info("Web configuration \(isSame ? "unchanged" : "loaded")", metadata: ["file": path])
            if !isSame { logWarnings(of: configuration) }
        } catch {
            new = old
            new.badReason = error.reason
            if error.reason != toldReason {
                logger.error(
                    "Error loading web configuration: keeping the previous one",
                    metadata: ["file": path, "err": error.reason])
            }
        }
        state.withLock { state in
            // The server may have come meanwhile, without what was read: the next check reads it again.
            new.server = state.server
            if old.server == nil { new.stamps = old.stamps }
            state = new
        }
        return new.badReason
    }

    private func logWarnings(of configuration: WebConfiguration) {
        for warning in configuration.warnings { logger.warning(warning, metadata: ["file": path ?? ""]) }
    }
}
