import AirQuality
import Bytes
import CommandLine
import Synchronization
import System
import WebSocket

/// Reads a feed once and serves it whole and in parts until a signal comes.
func relay(_ flags: ParsedFlags, signals: Signals) throws {
    let options: RelayOptions = try flags.options()
    let feed = try feedClient(of: flags, \RelayOptions.feed)
    beginLog(of: flags, level: options.logLevel, format: options.logFormat)
    let loop = Heartbeat(of: "the main loop", limit: .seconds(60))
    let isConnected = Atomic(false)
    let paths = RelayPaths(shards: options.shards)
    let state = Mutex(RelayState(options))
    let drops = Mutex(LineLimit(.seconds(10)))
    let server = try FeedServer(options.listen, signals: signals) {
        $0.maximumClients = max(1024, 4 * options.shards)
        $0.route = paths.route(at:)
        $0.greeting = { group in state.withLock { $0.greeting(of: paths.shard(of: group), at: monotonicTime()) } }
        $0.onDrop = { group in
            guard let others = drops.withLock({ $0.suppressed(before: monotonicTime()) }) else { return }
            log(
                "dropped \(others == 0 ? "a client" : "\(others + 1) clients, the last one") of \(paths.path(of: group)) "
                    + "that was too slow", level: .warning)
        }
    }
    defer { server.stop() }
    let report = ConnectionReport(of: feed.address.label, verb: "relaying")
    let client = WebSocketClient(
        configuration: feed,
        onEvent: { event in
            report.receive(event)
            switch event {
            case .connected: isConnected.store(true, ordering: .relaxed)
            case .disconnected: isConnected.store(false, ordering: .relaxed)
            default: break
            }
            guard case .connected(let fields) = event else { return }
            // What the feed says of its source, it says through the relay as well.
            let name = FeedSource.fieldName
            server.setHeaders(fields.first(name).map { [HTTPField(name: name, value: $0)] } ?? [])
        },
        onMessage: { kind, message in
            let (outcome, line) = state.withLock { $0.take(kind, message, at: monotonicTime()) }
            if let line { log(line, level: .warning) }
            guard case .parts(let parts) = outcome else { return }
            // When too much is pending, this call blocks and so slows down the feed; it does not drop messages.
            server.send([(copy(message), paths.everything)] + parts.map { ($0.message, paths.group(of: $0.shard)) })
        })
    let thread = try ServiceThread(name: "client") { client.run() }
    defer {
        client.stop()
        thread.join()
        log(state.withLock { $0.summary })
    }
    let stopStatus = try serveStatus(
        on: options.webListenAddresses,
        metrics: { format in
            let figures = state.withLock {
                RelayFigures(
                    messages: $0.messages, refusals: $0.refusals,
                    isConnected: isConnected.load(ordering: .relaxed), clients: server.clientCount)
            }
            return format.exposition(RelayFigures.families, of: figures)
        },
        healthProblem: { loop.problem },
        readinessProblem: {
            guard isConnected.load(ordering: .relaxed) else { return "the feed is not connected" }
            return state.withLock { $0.isFresh(at: monotonicTime()) } ? nil : "the feed is silent"
        })
    defer { stopStatus() }
    while server.wait(until: monotonicTime() + .seconds(10)) { loop.beat() }
}

/// The paths of the clients: `/` has the whole feed, `/shard/i/n` a part of it.
struct RelayPaths: Sendable {
    let shards: Int
    let everything = 0

    func route(at path: String) -> WebSocketRoute {
        if path == "/" || path.isEmpty { return .group(everything) }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let served = "expected / or /shard/I/\(shards) with I from 0 to \(shards - 1)"
        guard parts.count == 4, parts[0].isEmpty, parts[1].elementsEqual("shard".utf8),
            let shard = number(parts[2]), let count = number(parts[3])
        else { return .notFound(reason: served) }
        guard count == shards else { return .notFound(reason: "the feed is divided into \(shards), \(served)") }
        guard shard < shards else { return .notFound(reason: served) }
        return .group(group(of: shard))
    }

    /// A number as it is written, so that a part has one path.
    private func number(_ text: Substring.UTF8View) -> Int? {
        decimalNumber(text).flatMap { (number: Int) in text.elementsEqual("\(number)".utf8) ? number : nil }
    }

    func group(of shard: Int) -> Int { shard + 1 }
    /// Nil: all of them.
    func shard(of group: Int) -> Int? { group == everything ? nil : group - 1 }
    func path(of group: Int) -> String { shard(of: group).map { "/shard/\($0)/\(shards)" } ?? "/" }
}

/// The state of the feed, between the thread that reads it and the one that serves it.
struct RelayState: ~Copyable {
    /// A shard whose cities are in no message for so long gets an empty one: its exporters would take the feed for dead,
    /// dial again, and take the greeting's old values for new ones.
    static let maximumSilence: Duration = .seconds(10)

    private var splitter: FeedSplitter
    private let shards: Int
    /// When each shard was sent something; empty before the first message.
    private var sentAt: [Duration] = []
    private let idleTimeout: Duration
    private let expireAfter: Duration
    private var lastMessageAt: Duration?
    private(set) var messages = 0
    private(set) var refusals = RefusalCounts()
    private var refusalLines = LineLimit(.seconds(60))
    private var hasSaidFull = false

    init(_ options: RelayOptions) {
        splitter = FeedSplitter(shards: options.shards, cityField: options.cityField, valueField: options.valueField)
        shards = options.shards
        idleTimeout = options.feed.idleTimeout
        expireAfter = options.expireAfter
    }

    /// The outcome, and perhaps a line for the log.
    mutating func take(
        _ kind: WebSocketMessageKind, _ message: Span<UInt8>, at now: Duration
    ) -> (outcome: FeedSplitter.Outcome, line: String?) {
        var outcome: FeedSplitter.Outcome =
            switch kind {
            case .text: splitter.split(message, at: now)
            case .binary: .refused(.notText)
            case .tooLarge: .refused(.tooLarge)
            }
        switch outcome {
        case .refused(let refusal):
            refusals[refusal] += 1
            return (outcome, refusalLines.suppressed(before: now).map { _ in "did not pass on \(refused)" })
        case .parts(var parts):
            messages += 1
            lastMessageAt = now
            addSignsOfLife(to: &parts, at: now)
            outcome = .parts(parts)
            guard splitter.isFull, !hasSaidFull else { return (outcome, nil) }
            hasSaidFull = true
            return (
                outcome, "the 256 MiB for known cities are full: new clients get other cities when the feed names them"
            )
        }
    }

    private mutating func addSignsOfLife(to parts: inout [FeedSplitter.Part], at now: Duration) {
        if sentAt.isEmpty { sentAt = Array(repeating: now, count: shards) }
        for part in parts { sentAt[part.shard] = now }
        for shard in sentAt.indices where now - sentAt[shard] >= Self.maximumSilence {
            parts.append(FeedSplitter.Part(shard: shard, message: Array("[]".utf8)))
            sentAt[shard] = now
        }
    }

    /// A message has come within the idle time-out.
    func isFresh(at now: Duration) -> Bool {
        lastMessageAt.map { idleTimeout == .zero || now - $0 <= idleTimeout } ?? false
    }

    /// The first messages for a new client; none while the feed is down. The client would take old values for new ones,
    /// and silence is what tells it that the feed is down.
    mutating func greeting(of shard: Int?, at now: Duration) -> [[UInt8]] {
        guard isFresh(at: now) else { return [] }
        // An exporter has dropped them, and would have them back with a new time.
        if expireAfter > .zero { splitter.forget(of: shard, namedBefore: now - expireAfter) }
        return splitter.everything(of: shard)
    }

    /// In one line, for the end.
    var summary: String {
        let end = refusals == RefusalCounts() ? "" : ", refused \(refused)"
        return "passed on \(messages) message\(messages == 1 ? "" : "s")\(end)"
    }

    /// A relay refuses whole messages alone.
    fileprivate static let refusalReasons: [(reason: RefusalReason, text: String)] = [
        (.notText, "not text"), (.tooLarge, "too large"), (.notJSON, "not JSON"), (.notAnArray, "not an array"),
    ]

    private var refused: String {
        let all = Self.refusalReasons
        let count = all.reduce(0) { $0 + refusals[$1.reason] }
        let reasons = all.filter { refusals[$0.reason] > 0 }.map { "\(refusals[$0.reason]) \($0.text)" }
        return "\(count) message\(count == 1 ? "" : "s") (\(reasons.joined(separator: ", ")))"
    }
}

/// The figures of `relay` on `/metrics`.
private struct RelayFigures {
    var messages: Int
    var refusals: RefusalCounts
    var isConnected: Bool
    var clients: Int

    static let families: [Family<RelayFigures>] = [
        Family("airquality_feed_connected", .gauge, "Whether the feed that is relayed is connected.") {
            $0.isConnected ? 1 : 0
        },
        Family("airquality_feed_messages_total", .counter, "Messages passed on.") { Double($0.messages) },
        Family(
            "airquality_feed_refusals_total", .counter, labels: ["reason"], "Messages not passed on, by reason."
        ) { figures, add in
            for (reason, _) in RelayState.refusalReasons {
                add([LabelValue(reason.rawValue)], .number(Double(figures.refusals[reason])))
            }
        },
        clientsFamily { $0.clients },
    ]
}
