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
    let latest = LatestAir(lifetime: options.lifetime)
    let server = try FeedServer(options.listen, signals: signals) {
        $0.headers = [HTTPField(name: FeedSource.fieldName, value: options.source.headerValue)]
        $0.greeting = { latest.all(at: monotonicTime()) }
    }
    defer { server.stop() }
    let figures = SharedFigures()
    let statusServer = try startStatusServer(on: options.webListenAddresses, figures, latest, log: log)
    defer { statusServer?.stop(within: .seconds(1)) }
    try Poller(configuration, program, server, latest, figures, log).run()
}

private func jqProgram(of flags: ParsedFlags, _ options: PollOptions) throws -> JQProgram? {
    guard let text = options.jq else { return nil }
    do throws(JQError) {
        return try JQProgram(text)
    } catch {
        throw flags.refusal(of: \PollOptions.jq, expected: "a program of jq: \(error)")
    }
}
