import Bytes
import CommandLine
import FeedOptions
import FeedProtocol
import Synchronization
import System
import WebSocket

/// The feed that the operand names, with the options of its connection, which are checked now and not at the first
/// connection.
/// - Parameter member: the options among the command's.
func feedClient<Values: Options>(
    of flags: ParsedFlags, _ member: KeyPath<Values, FeedClientOptions>
) throws -> WebSocketClientConfiguration {
    let options = try flags.options(Values.self)[keyPath: member]
    do throws(FeedOptionError) {
        try options.check { FeedClientOptions.flag($0) }
    } catch {
        let option = (member as PartialKeyPath<Values>).appending(
            path: error.member as PartialKeyPath<FeedClientOptions>)!
        throw flags.refusal(of: option, at: error.index, expected: error.expected)
    }
    return WebSocketClientConfiguration(address: try feedAddress(of: flags), options: options)
}

/// The operand that names a feed.
private func feedAddress(of flags: ParsedFlags) throws(FlagError) -> WebSocketAddress {
    do throws(SystemError) {
        return try WebSocketAddress(flags.operands[0])
    } catch {
        let shown = quoted(masked(address: flags.operands[0]))
        throw FlagError("URL \(shown): \(error), expected ws://host:port/path or wss://host:port/path")
    }
}

/// Says how the connection to a feed is: each state once, not each attempt.
final class ConnectionReport: Sendable {
    private let feed: String
    private let verb: String
    private let lastSaid = Mutex("")

    /// - Parameter verb: what is done with the feed while it is connected.
    init(of feed: String, verb: String) {
        self.feed = feed
        self.verb = verb
    }

    func receive(_ event: WebSocketEvent) {
        let line: String
        let level: Logger.Level
        switch event {
        case .connecting, .paused, .resumed, .disconnected(.requested, _, _): return
        case .connected:
            line = "\(verb) \(feed)"
            level = .info
        case .disconnected(let reason, let detail, _):
            line = "\(feed): \(reason.rawValue): \(detail); dialling again"
            level = .warning
        }
        let isNew = lastSaid.withLock { last in
            defer { last = line }
            return line != last
        }
        if isNew { log(line, level: level) }
    }
}
