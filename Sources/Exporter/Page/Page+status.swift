import AirQuality

// The state of the feeds, in the frame of every page. The page may be public, so no feed address is shown.

extension Page {
    /// The state of all feeds in one line.
    var feedLine: Markup {
        let feeds = snapshot.feeds
        let connected = feeds.count(where: \.isConnected)
        let count: Markup = feeds.count > 1 ? " (\(connected) of \(feeds.count) feeds)" : ""
        let message: Markup = feeds.compactMap(\.lastMessageAt).max().map { ", last message \(ago($0))" } ?? ""
        func line(_ state: String, _ text: Markup) -> Markup {
            "<p class=\"feed \(state)\"><span class=\"dot\" aria-hidden=\"true\"></span> <span>\(text)</span></p>"
        }
        if feeds.allSatisfy(\.isPaused) { return line("paused", "Paused while unused\(count)\(message)") }
        guard let newest = snapshot.states.map(\.updatedAt).max() else {
            return line(connected > 0 ? "slow" : "stale", "Waiting\(count)\(message)")
        }
        if isStale { return line("stale", "Interrupted\(count)\(message)") }
        // Readings older than a minute are not called live.
        guard now - newest > 60_000 else { return line("live", "Live\(count)\(message)") }
        return line("slow", "Connected\(count), newest values \(ago(newest))")
    }

    /// The current fault, in a box above the content; hidden if there is none.
    func banner(_ root: String) -> Markup {
        guard let problem else { return "<div class=\"banner\" role=\"alert\" hidden></div>\n" }
        let retry: Markup = """
            <form class="retry" method="post" action="\(root)-/reconnect"><button>Retry</button></form>

            """
        return """
            <div class="banner" role="alert">
            <div>
            <p>\(problem)</p>
            \(Markup(each: causes) { "<p>\($0.prefix(1).uppercased() + $0.dropFirst())</p>\n" })</div>
            \(retry, if: settings.isLifecycleEnabled)</div>

            """
    }

    /// Whether no feed is ready, or only feeds whose readings are all rejected.
    private var isStale: Bool {
        !snapshot.feeds.contains { snapshot.isReady($0, at: now) && $0.connection.reasonOfAll == nil }
    }

    private var problem: Markup? {
        guard snapshot.cityCount == 0 else {
            guard isStale, let since = snapshot.states.map(\.receivedAt).max() else { return nil }
            // To the minute even if it is recent.
            let pattern = ClockPattern(span: max(now - since, 600_000))
            return """
                <strong>Live data interrupted since \(clock: since, pattern) <span class="zone">UTC</span>.</strong> \
                The last known readings are shown.
                """
        }
        if snapshot.expiredCount > 0 { return "<strong>All readings have expired.</strong>" }
        return snapshot.feeds.contains(where: \.isConnected)
            ? "<strong>Connected, no readings yet.</strong>" : "<strong>Waiting for the first reading.</strong>"
    }

    /// The sources of the readings, one per line, with the credit that their terms require.
    var credits: Markup {
        Markup(each: Set(snapshot.feeds.compactMap(\.source)).sorted { $0.name < $1.name }) { source in
            let credit = sourceCredits[source.name]
            let name: Markup = credit.map { "<a href=\"\($0.address)\">\($0.name)</a>" } ?? "<bdi>\(source.name)</bdi>"
            return """
                <p>Source: \(name)\(", a computer model", if: source.kind == "model")\
                \(", measured by stations", if: source.kind == "stations")\
                \(", not measured", if: source.kind == "simulation")\
                \(", licence \(source.license)", if: !source.license.isEmpty).</p>

                """
        }
    }
}
