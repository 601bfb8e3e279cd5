import AirQuality
import AirSources
import CommandLine
import HTTPServer
import HTTPText
import JQ
import System
import WebSocket

/// Asks an HTTP source for real air and serves it as a feed until a signal comes.
func poll(_ flags: ParsedFlags, signals: Signals) throws {
    let configuration = try PollConfiguration(flags)
    let options = configuration.options
    let log = flags.beginLog(level: options.logLevel, format: options.logFormat)
    let program = try jqProgram(of: flags, options)
    let state = Monitor(PollState(latest: LatestAir(lifetime: options.lifetime)))
    var feed = options.listen
    feed.headers = [HTTPField(name: FeedSource.fieldName, value: options.source.headerValue)]
    feed.greeting = { state.read { $0.latest.all(at: monotonicTime()) } }
    let server = try FeedServer(feed, signals: signals)
    defer { server.stop() }
    let statusServer = try startStatusServer(on: options.webListenAddresses, state, log: log)
    defer { statusServer?.stop(within: .seconds(1)) }
    try Poller(configuration, program, server, state, log).run()
}

private func jqProgram(of flags: ParsedFlags, _ options: PollOptions) throws -> JQProgram? {
    guard let text = options.jq else { return nil }
    do throws(SystemError) {
        return try JQProgram(text)
    } catch {
        throw flags.rejection(of: "jq", expected: "a program of jq: \(error)")
    }
}
