import CommandLine
import FeedOptions
import System
import WebSocket

/// Records a feed until a signal arrives or writing fails.
func record(_ flags: ParsedFlags, signals: Signals) throws {
    let options: RecordOptions = try flags.options()
    // Reports bad files at start-up, not at the first connection.
    try flags.check(options.feed.check)
    var feed = options.feed.configuration(of: try flags.feedAddress(), userAgent: Program.userAgent(of: "record"))
    let log = flags.beginLog(level: options.logLevel, format: options.logFormat)
    let recorder = try flags.using(
        "output", expected: "a file to append to",
        Recorder(of: feed.address.label, to: options.output, options: options.feed, log: log, signals: signals))
    feed.greeting = recorder.greeting
    feed.onSend = recorder.note
    let client = WebSocketClient(configuration: feed, onEvent: recorder.receive, onMessage: recorder.receive)
    let isOver = Monitor(false)
    _ = try ServiceThread(name: "client") {
        client.run()
        isOver.change { $0 = true }
    }
    while signals.wait(for: nil) == nil, recorder.failure == nil {}
    client.stop()
    let hasEnded = isOver.wait(until: monotonicTime() + .seconds(1)) { $0 ? true : nil } ?? false
    // The client's thread blocks if nothing reads standard output.
    if !hasEnded, recorder.failure == nil { endProcess(status: 0) }
    if let failure = recorder.failure { throw failure }
}
