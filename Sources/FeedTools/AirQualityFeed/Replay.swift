import Bytes
import CommandLine
import FeedSimulation
import System
import WebSocket

/// Serves a recording in a loop until a signal arrives, or once.
func replay(_ flags: ParsedFlags, signals: Signals) throws {
    let options: ReplayOptions = try flags.options()
    let log = flags.beginLog()
    let path = flags.operands[0]
    if path == "-" || isPipe(path) {
        return try replayLines(path == "-" ? nil : path, options, flags, log: log, signals: signals)
    }
    let recording: Recording
    do {
        recording = try Recording(readFile(path, limit: 1 << 30))
    } catch {
        throw FlagError("FILE \(quoted(path)): expected CSV with City, Date and AQI, or lines of JSON: \(error)")
    }
    for line in recording.cutOffLines { log.warning("\(path):\(line): skipping a truncated line") }
    guard recording.isTimed || !flags.isGiven("speed") else {
        throw flags.rejection(of: "speed", expected: "a recording with times, or --interval instead")
    }
    let server = try options.server(flags, signals)
    defer { server.stop() }
    guard server.awaitClient() else { return }
    var next = monotonicTime()
    repeat {
        for (step, message) in recording.messages.enumerated() {
            guard server.wait(until: next) else { return }
            server.send(message)
            let gap = recording.gap(before: step + 1).map { $0 / options.speed }
            next = max(next + (gap ?? options.interval), monotonicTime())
        }
    } while !options.isOnce
    server.finish()
}

/// Sends the lines of standard input (`nil`) or of a pipe as they come, from the first client until the input ends or a
/// signal arrives. Not for files: what a pipe brings cannot be read again.
private func replayLines(
    _ path: String?, _ options: ReplayOptions, _ flags: ParsedFlags, log: Logger, signals: Signals
) throws {
    for flag in ["speed", "interval"] where flags.isGiven(flag) {
        throw flags.rejection(of: flag, expected: "a file with it; lines of a pipe are sent as they come")
    }
    let server = try options.server(flags, signals)
    guard server.awaitClient() else { return server.stop() }
    let end = Monitor<Result<Void, SystemError>?>(nil)
    _ = try ServiceThread(name: "input") {
        let result = Result { () throws(SystemError) in
            var lines = try LineReader(path, limit: 4 << 20)
            try server.send(&lines, log: log)
        }
        end.change { $0 = result }
        signals.wake()
    }
    guard server.wait(until: nil, orUntil: { end.read { $0 != nil } }) else {
        server.stop()
        // The other thread may be reading, and would not notice the end.
        LogWriter.standardError.flush()
        endProcess(status: 0)
    }
    defer { server.stop() }
    try end.read(\.self)?.get()
    server.finish()
}

extension FeedServer {
    /// Sends each line as a message, until the input ends. Logs the first line of each kind that is left out.
    fileprivate func send(_ lines: inout LineReader, log: Logger) throws(SystemError) {
        var known: Set<String> = []
        func leaveOut(_ reason: String) {
            if known.insert(reason).inserted { log.warning("leaving out lines \(reason)") }
        }
        while let line = try lines.next() {
            switch line {
            case .tooLong: leaveOut("longer than 4 MiB")
            case .text(let text) where !isUTF8(text.span): leaveOut("that are not UTF-8")
            case .text(let text) where text.allSatisfy(isJSONBlank): continue
            case .text(let text): if let message = Recording.message(ofLine: text) { send(message) }
            }
        }
    }
}

extension ReplayOptions {
    fileprivate func server(_ flags: ParsedFlags, _ signals: Signals) throws -> FeedServer {
        try flags.listening("listen") {
            try FeedServer(WebSocketServerConfiguration(address: listen), signals: signals)
        }
    }
}
