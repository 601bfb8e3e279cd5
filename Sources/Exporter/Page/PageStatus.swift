import AirQuality

// How the feeds are, in the frame of each page. Everyone may read it, so it names no address.

extension Page {
    /// Milliseconds: values that are older are not called live.
    private static let liveAge: Int64 = 60_000

    /// The state of all feeds in one line.
    ///
    /// - Parameter newest: time of the newest reading that is shown.
    func feedLine(newest: Timestamp?) -> Markup {
        let feeds = snapshot.feeds
        let connected = feeds.count(where: \.isConnected)
        let count: Markup = feeds.count > 1 ? " (\(connected) of \(feeds.count) feeds)" : ""
        let message: Markup = feeds.compactMap(\.lastMessageAt).max().map { ", last message \(ago($0))" } ?? ""
        func line(_ state: String, _ text: Markup) -> Markup {
            "<p class=\"feed \(state)\"><span class=\"dot\" aria-hidden=\"true\"></span> <span>\(text)</span></p>"
        }
        if feeds.allSatisfy(\.isPaused) { return line("paused", "Paused while nobody reads\(count)\(message)") }
        if snapshot.cityCount == 0 { return line(connected > 0 ? "slow" : "stale", "Waiting\(count)\(message)") }
        if outage != nil { return line("stale", "Interrupted\(count)\(message)") }
        if let newest, now - newest > Self.liveAge {
            return line("slow", "Connected\(count), newest values \(ago(newest))")
        }
        return line("live", "Live\(count)\(message)")
    }

    /// The current fault, in a box above the content; hidden while all is well.
    func banner(_ root: String) -> Markup {
        guard let text = problem else { return "<div class=\"banner\" role=\"alert\" hidden></div>\n" }
        let hint: Markup = outage?.hint.map { "<p>\($0)</p>\n" } ?? ""
        let retry: Markup = """
            <form class="retry" method="post" action="\(root)-/reconnect"><button>Retry</button></form>

            """
        return """
            <div class="banner" role="alert">
            <p>\(text)</p>
            \(hint)\(retry, if: settings.isLifecycleEnabled)</div>

            """
    }

    private var problem: Markup? {
        guard snapshot.cityCount == 0 else {
            guard let since = outage?.since else { return nil }
            return """
                <strong>Live data interrupted since \(moment(since)).</strong> The last known readings are shown.
                """
        }
        let connected = snapshot.feeds.filter(\.isConnected)
        if connected.contains(where: { $0.messages > 0 }) { return "<strong>Connected, no readings yet.</strong>" }
        return connected.isEmpty
            ? "<strong>Waiting for the first reading.</strong>" : "<strong>Connected, no message yet.</strong>"
    }

    /// The sources of the readings, a line for each, with the credit that its terms ask for.
    var credits: Markup {
        Markup(each: Set(snapshot.feeds.compactMap(\.source)).sorted { $0.name < $1.name }) { source in
            let credit = SourceCredit.of(source.name)
            let name: Markup = credit.map { "<a href=\"\($0.address)\">\($0.name)</a>" } ?? "<bdi>\(source.name)</bdi>"
            return """
                <p>Source: \(name)\(", a computer model", if: source.kind == "model")\
                \(", measured by stations", if: source.kind == "stations")\
                \(", licence \(source.license)", if: !source.license.isEmpty).</p>

                """
        }
    }
}
