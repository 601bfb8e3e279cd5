import AirQuality
import Synchronization
import System

/// Rereads the files that flags name on request, and those of the web configuration when they change. A file that does
/// not respond in time is an error.
final class Reloader: Sendable {
    /// The results of the last reloads, including the start and automatic ones.
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
    /// Reloads for callers that must not block on a file. With two waiting, another would find nothing new.
    private let reloads = WorkQueue(name: "files", limit: 2)
    private let checks = WorkQueue(name: "web-files", limit: 1)
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

    /// Rereads all files. Returns `nil` if all are valid, else the problems in one line.
    func reload() -> String? {
        let feedProblem = feeds.reload()
        let webProblem = web.reload()
        note(areFeedsGood: feedProblem == nil, isWebGood: webProblem == nil)
        let problems = [feedProblem, webProblem].compactMap(\.self)
        if problems.isEmpty, namesNoFile { logger.info("Nothing to reload: no flag names a file") }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Requests a reload of all files. Does not block.
    func reloadSoon() {
        let isAccepted = reloads.submit { [self] in _ = reload() }
        if !isAccepted { logger.error("Reload skipped: earlier ones are still in progress") }
    }

    /// Requests a reload of the web configuration's files if they have changed. Called every second; does not block.
    func checkWebConfiguration() {
        _ = checks.submit { [self] in
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
