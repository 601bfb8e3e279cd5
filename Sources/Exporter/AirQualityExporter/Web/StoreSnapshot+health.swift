import AirQuality
import Bytes
import System
import WebSocket

extension StoreSnapshot {
    /// Returns `nil` if a feed is connected or paused and a city has a fresh reading, else the problem: a line for each
    /// cause, in our own words, with one value and names of members. The feed cannot break a line.
    func readinessProblem(at now: Timestamp) -> String? {
        if feeds.contains(where: { isReady($0, at: now) }) { return nil }
        let causes = feeds.flatMap { feed in feed.causes(at: now).map { "\(feed.label): \($0)" } }
        return (["no fresh reading" + (causes.isEmpty ? ": no feed" : "")] + causes.map(onOneLine)).joined(
            separator: "\n")
    }

    /// The distinct causes for the page, which may be public and names no addresses.
    func publicCauses(at now: Timestamp) -> [String] {
        let causes = feeds.flatMap { feed in
            guard feed.isConnected else {
                return ["not connected" + (feed.disconnectReason.map { ": \($0.words)" } ?? "")]
            }
            return feed.causes(at: now).map(onOneLine)
        }
        return causes.indices.filter { causes.firstIndex(of: causes[$0]) == $0 }.prefix(5).map { causes[$0] }
    }
}

extension DisconnectReason {
    /// The reason in words.
    fileprivate var words: String {
        switch self {
        case .closed: "the server closed the connection"
        case .lost: "the connection was lost"
        case .refused: "the server cannot be reached"
        case .resolve: "the server's name is unknown"
        case .tls: "no secure connection to the server"
        case .handshake: "the server refused the WebSocket handshake"
        case .timeout: "the server did not respond in time"
        case .pongTimeout: "the server stopped responding"
        case .idle: "no message arrived in time"
        case .protocolError: "the server violated the protocol"
        case .requested: "reconnecting"
        case .paused: "paused while unused"
        }
    }
}

extension FeedStatistics {
    fileprivate var disconnectReason: DisconnectReason? { lastDisconnect.flatMap(DisconnectReason.init) }

    /// Why no new readings come.
    func causes(at now: Timestamp) -> [String] {
        guard isConnected else { return ["not connected" + (lastProblem.map { " (\($0))" } ?? "")] }
        guard let lastMessageAt else { return ["connected, no message yet"] }
        if connection.readings == 0 {
            let reasons = connection.rejections.reasons.sorted { connection.rejections[$0] > connection.rejections[$1] }
            let rejected = reasons.map { reason in
                "rejected: \(connection.rejections[reason]) × \(reason.rawValue)" + example(of: .rejected(reason))
                    + "; try: \(reason.hint(for: connection.example(of: .rejected(reason))))"
            }
            let without = connection.messagesWithoutReadings
            let unread = without == 0 ? [] : ["\(without) messages without readings" + example(of: .withoutReadings)]
            if !(rejected + unread).isEmpty { return rejected + unread }
        }
        let silence = now - lastMessageAt
        let isSilent = idleTimeout > 0 && silence > idleTimeout
        return [isSilent ? "no message for \(silence / 1000) s" : "messages without a new reading"]
    }

    /// One value of what is rejected, and the names of the members. jq's words are in the log alone.
    private func example(of noReading: NoReading) -> String {
        guard let excerpt = connection.example(of: noReading) else { return "" }
        let value = noReading == .withoutReadings ? nil : excerpt.value
        let texts = [("value", value), ("members", excerpt.kind.members.joined(separator: ","))].compactMap {
            name, text in
            text.flatMap { $0.isEmpty ? nil : " \(name)=\(quoted($0))" }
        }
        return texts.joined()
    }
}
