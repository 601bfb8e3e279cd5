import AirQuality
import Synchronization
import System

/// Reads the files again that the flags name, when asked to, and those of the web configuration when they have changed.
/// A file that does not respond is an error in time.
final class Reloader: Sendable {
    /// The results of the last reloads; the start counts as one, and so does an automatic one.
    struct Outcome: Equatable {
        var areFeedsGood = true
        var isWebGood = true
        var succeededAt: Timestamp

        var isGood: Bool { areFeedsGood && isWebGood }
    }

    private let feeds: FeedSet
    private let web: WebConfigurationWatcher
    private let logger: Logger
    private let namesNoFile: Bool
    /// For those who must not wait for a file. When two wait, another one would find nothing new.
    private let queue = WorkQueue(name: "files", limit: 2)
    private let state: Mutex<Outcome>

    init(
        _ configuration: Configuration, feeds: FeedSet, web: WebConfigurationWatcher, logger: Logger, at now: Timestamp
    ) {
        self.feeds = feeds
        self.web = web
        self.logger = logger
        namesNoFile = configuration.namesNoFile
        state = Mutex(Outcome(succeededAt: now))
    }

    var outcome: Outcome { state.withLock(\.self) }

    /// Reads all files; `nil` when all is well, else what is wrong, in one line.
    func reload() -> String? {
        let feedProblem = feeds.reload()
        let webProblem = web.reload()
        note(areFeedsGood: feedProblem == nil, isWebGood: webProblem == nil)
        let problems = [feedProblem, webProblem].compactMap(\.self)
        if problems.isEmpty, namesNoFile { logger.info("Nothing to reload: no flag names a file") }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Has all files read; does not block.
    func reloadSoon() {
        let isAccepted = queue.submit { [self] in _ = reload() }
        if !isAccepted { logger.error("Reload skipped: earlier ones are still in progress") }
    }

    /// Has the files of the web configuration read if they have changed; to be called each second. Does not block.
    func checkWebConfiguration() {
        _ = queue.submit { [self] in
            if let isGood = web.check() { note(isWebGood: isGood) }
        }
    }

    private func note(areFeedsGood: Bool? = nil, isWebGood: Bool) {
        state.withLock { state in
            state.areFeedsGood = areFeedsGood ?? state.areFeedsGood
            state.isWebGood = isWebGood
            if state.isGood { state.succeededAt = currentTime() }
        }
    }
}
