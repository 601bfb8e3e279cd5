import HTTPServer
import Synchronization
import System
import WebConfiguration

/// The web configuration file and the files that it names, put in force again when they change.
///
/// A file that has become bad leaves the last good one in force. The files are read on a queue of their own, because a
/// file system can hang.
final class WebConfigurationWatcher: Sendable {
    private let path: String?
    private let logger: Logger
    private let queue: WorkQueue
    private let onRead: @Sendable () -> Void
    private let onReload: @Sendable (_ isSuccessful: Bool) -> Void
    private let state: Mutex<State>
    /// Held by one reload at a time, from before it reads until what it has read is in force: the newest file wins.
    private let reloading = Mutex(())

    private struct State {
        var stamps: [String: FileStamp?]
        /// The reason why the files are not in force.
        var badReason: String?
        weak var server: HTTPServer?
        /// The number of the check that the queue has been given.
        var checkBegan: Duration?
        var isHangReported = false
    }

    /// The configuration that the server begins with.
    let initial: WebConfiguration

    /// - Parameters:
    ///   - onRead: called between reading the files again and putting them in force.
    ///   - onReload: told of each reload because of a change.
    /// - Throws: one line that names the file and what is wrong in it.
    init(
        path: String?, logger: Logger, queue: WorkQueue, onRead: @escaping @Sendable () -> Void = {},
        onReload: @escaping @Sendable (Bool) -> Void = { _ in }
    ) throws(SystemError) {
        self.onRead = onRead
        self.path = path
        self.logger = logger
        self.queue = queue
        self.onReload = onReload
        let stamps: [String: FileStamp?]
        (initial, stamps) = if let path { try Self.read(path) } else { (WebConfiguration(), [:]) }
        state = Mutex(State(stamps: stamps))
        logWarnings(of: initial)
    }

    func follow(_ server: HTTPServer) { state.withLock { $0.server = server } }

    /// Whether there is anything that can change.
    var hasFile: Bool { path != nil }

    /// Has the files read again if they changed; to be called now and then. Does not block.
    func poll(at now: Duration) {
        guard let path else { return }
        let (mustCheck, isHanging) = state.withLock { state in
            guard let began = state.checkBegan else {
                state.checkBegan = now
                return (true, false)
            }
            defer { state.isHangReported = now - began >= Self.hangTime }
            return (false, now - began >= Self.hangTime && !state.isHangReported)
        }
        if isHanging {
            logger.error(
                "Web configuration file does not respond: keeping the previous one", metadata: ["file": "\(path)"])
        }
        guard mustCheck else { return }
        let isAccepted = queue.submit { [self] in
            check()
            state.withLock { $0.checkBegan = nil }
        }
        if !isAccepted { state.withLock { $0.checkBegan = nil } }
    }

    private static let hangTime = Duration.seconds(5)

    /// Reads the files again if they changed. While they are invalid, every call reads them: the fix may be in a file
    /// that was not being watched.
    func check() {
        let (stamps, badReason) = state.withLock { ($0.stamps, $0.badReason) }
        guard badReason != nil || stamps.contains(where: { FileStamp($0.key) != $0.value }) else { return }
        onReload(reload(toldReason: badReason) == nil)
    }

    /// The configuration with the stamps of its files. Stamped before reading: a change in between is then seen as one.
    private static func read(_ path: String) throws(SystemError) -> (WebConfiguration, [String: FileStamp?]) {
        var stamps: [String: FileStamp?] = [:]
        let configuration = try WebConfiguration(file: path) { stamps[$0] = FileStamp($0) }
        return (configuration, stamps)
    }

    /// Reads the files again; blocks as long as they do.
    ///
    /// - Returns: `nil` when they are in force, else why not, in one line.
    func reload() -> String? { reload(toldReason: nil) }

    /// - Parameter toldReason: is not logged once more.
    private func reload(toldReason: String?) -> String? {
        guard let path else { return nil }
        return reloading.withLock { _ in
            do throws(SystemError) {
                let (configuration, stamps) = try Self.read(path)
                onRead()
                try state.withLock { $0.server }?.reload(configuration)
                let isSame = state.withLock { state in
                    defer { (state.stamps, state.badReason) = (stamps, nil) }
                    return state.stamps == stamps && state.badReason == nil
                }
                logger.info("Web configuration \(isSame ? "unchanged" : "loaded")", metadata: ["file": "\(path)"])
                if !isSame { logWarnings(of: configuration) }
                return nil
            } catch {
                state.withLock { $0.badReason = error.reason }
                guard error.reason != toldReason else { return error.reason }
                logger.error(
                    "Error loading web configuration: keeping the previous one",
                    metadata: ["file": "\(path)", "err": "\(error.reason)"])
                return error.reason
            }
        }
    }

    private func logWarnings(of configuration: WebConfiguration) {
        for warning in configuration.warnings { logger.warning("\(warning)", metadata: ["file": "\(path ?? "")"]) }
    }
}
