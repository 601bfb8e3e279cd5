import AirQuality
import AirSources
import CommandLine
import HTTPServer
import HTTPText
import System
import WebSocket

/// Polls an HTTP source for real air quality data and serves it as a feed until a signal arrives.
func poll(_ flags: ParsedFlags, signals: Signals) throws {
    let options: PollOptions = try flags.options()
    let source = try PolledSource(options, flags)
    // Half of them are for connections: with two or three, clients that send nothing would shut the others out.
    if !options.webListenAddresses.isEmpty { try TaskLimit.require(64) }
    let log = flags.beginLog(level: options.logLevel, format: options.logFormat)
    let state = Monitor(PollState(latest: LatestAir(lifetime: options.lifetime)))
    var feed = WebSocketServerConfiguration(address: options.listen)
    feed.headers = [HTTPField(name: FeedSource.fieldName, value: options.source.headerValue)]
    feed.greeting = { state.read { $0.latest.all(at: monotonicTime()) } }
    let server = try flags.listening("listen") { try FeedServer(feed, signals: signals) }
    defer { server.stop() }
    let statusServer = try flags.listening("web.listen-address") {
        try startStatusServer(on: options.webListenAddresses, state, log: log)
    }
    defer { statusServer?.stop(within: .seconds(1)) }
    Poller(source, server, state, log).run()
}
