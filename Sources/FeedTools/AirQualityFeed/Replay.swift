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
    let feed = WebSocketServerConfiguration(address: options.listen)
    let server = try flags.listening("listen") { try FeedServer(feed, signals: signals) }
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
