import AirQuality
import Synchronization
import System

/// Reads the files again that the flags name, when asked to, and those of the web configuration when they have changed:
/// one after another on a queue of their own, because a file system can hang and nothing else may wait for it.
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
    private let queue = WorkQueue(name: "files", limit: 8)
    private let state: Mutex<Outcome>
    /// Limits the line about a file that does not respond.
    private let hangs = Mutex(TokenBucket(each: .seconds(3600)))

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

    /// Reads all files, and waits for it up to 10 s; `nil` when all is well, else what is wrong, in one line.
    func reload() -> String? {
        let ended = Monitor<[String]?>(nil)
        let isAccepted = queue.submit { [self] in
            let problems = readAll()
            ended.change { $0 = problems }
        }
        guard isAccepted else { return failed("earlier reloads are still in progress: does a file system hang?") }
        guard let problems = ended.wait(until: monotonicTime() + .seconds(10), { $0 }) else {
            return failed("the files have not been read after 10 s: does a file system hang?")
        }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Has all files read; does not block.
    func reloadSoon() {
        if !queue.submit({ [self] in _ = readAll() }) {
            logger.error("Reload skipped: \(failed("earlier ones are still in progress"))")
        }
    }

    /// Notes that files were not read, until they are.
    private func failed(_ reason: String) -> String {
        state.withLock { $0.areFeedsGood = false }
        return reason
    }

    private func readAll() -> [String] {
        let feedProblem = feeds.reload()
        let webProblem = web.reload()
        note(areFeedsGood: feedProblem == nil, isWebGood: webProblem == nil)
        let problems = [feedProblem, webProblem].compactMap(\.self)
        if problems.isEmpty, namesNoFile { logger.info("Nothing to reload: no flag names a file") }
        return problems
    }

    /// Has the files of the web configuration read if they have changed; to be called each second. Does not block.
    func checkWebConfiguration() {
        let isAccepted = queue.submit { [self] in
            if let isGood = web.check() { note(areFeedsGood: outcome.areFeedsGood, isWebGood: isGood) }
        }
        guard !isAccepted, hangs.withLock({ $0.take(at: monotonicTime()) }) else { return }
        logger.error("Web configuration file does not respond: keeping the previous one")
    }

    private func note(areFeedsGood: Bool, isWebGood: Bool) {
        state.withLock { state in
            state.areFeedsGood = areFeedsGood
            state.isWebGood = isWebGood
            if state.isGood { state.succeededAt = currentTime() }
        }
    }
}
