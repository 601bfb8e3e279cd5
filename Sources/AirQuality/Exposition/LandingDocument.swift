/// The page at `/`: what this is, where everything is, and the cities as a table that a person can read.
///
/// Plain HTML without script; colours follow the browser's light or dark preference.
public struct LandingDocument: Sendable {
    public var version: String
    /// Path and what it is.
    public var links: [(path: String, text: String)]
    /// Path of the history, for a city's link.
    public var historyPath: String

    public init(version: String, links: [(path: String, text: String)], historyPath: String) {
        self.version = version
        self.links = links
        self.historyPath = historyPath
    }

    /// With more cities than this, the page shows the worst ones: a table of many thousands helps nobody.
    static let maximumCities = 500

    public func render(_ snapshot: StoreSnapshot, scale: Scale, at now: Timestamp) -> [UInt8] {
        var html = HTML()
        html.raw(Self.head)
        html.raw("<header><h1>Air Quality Exporter</h1><p>Live Air Quality Index of cities for Prometheus, version ")
        html.text(version)
        html.raw("</p></header>\n<main>\n<nav aria-label=\"Pages\"><ul>\n")
        for link in links {
            html.raw("<li><a href=\"")
            html.text(link.path)
            html.raw("\">")
            html.text(link.path)
            html.raw("</a> ")
            html.text(link.text)
            html.raw("</li>\n")
        }
        html.raw("</ul></nav>\n")
        feeds(snapshot.feeds, at: now, &html)
        cities(snapshot, scale: scale, at: now, &html)
        html.raw("</main>\n</body>\n</html>\n")
        return html.bytes
    }

    // MARK: Feeds

    private func feeds(_ feeds: [FeedStatistics], at now: Timestamp, _ html: inout HTML) {
        html.raw(
            "<h2>Feeds</h2>\n<div class=\"scroll\"><table class=\"feeds\">\n<thead><tr><th scope=\"col\">Feed</th>")
        html.raw("<th scope=\"col\">State</th><th scope=\"col\">Last message</th>")
        html.raw("<th scope=\"col\" class=\"number\">Messages</th><th scope=\"col\" class=\"number\">Readings</th>")
        html.raw("<th scope=\"col\" class=\"number\">Refusals</th></tr></thead>\n<tbody>\n")
        for feed in feeds {
            html.raw("<tr><th scope=\"row\">")
            html.text(feed.label)
            let state = feed.isPaused ? "paused" : feed.isConnected ? "connected" : "waiting"
            html.raw("</th><td><span class=\"state \(state)\">")
            html.text(feed.isPaused ? "⏸ paused" : feed.isConnected ? "● connected" : "○ not connected")
            html.raw("</span>")
            if !feed.isConnected, !feed.isPaused, let trouble = feed.lastTrouble {
                html.raw("<br><small>")
                html.text(trouble)
                html.raw("</small>")
            }
            html.raw("</td><td data-label=\"Last message\">")
            html.text(feed.lastMessageAt.map { Self.age(of: $0, at: now) } ?? "none yet")
            html.raw("</td>")
            let refusals = RefusalReason.allCases.reduce(0) { $0 + feed.refusals[$1] }
            for (label, count) in [("Messages", feed.messages), ("Readings", feed.readings), ("Refusals", refusals)] {
                html.raw("<td class=\"number\" data-label=\"\(label)\">\(count)</td>")
            }
            html.raw("</tr>\n")
        }
        html.raw("</tbody></table></div>\n")
    }

    // MARK: Cities

    private func cities(_ snapshot: StoreSnapshot, scale: Scale, at now: Timestamp, _ html: inout HTML) {
        html.raw("<h2>Cities</h2>\n")
        guard snapshot.cityCount > 0 else {
            html.raw("<p>No reading has arrived yet.</p>\n")
            return
        }
        var shown = snapshot.order.sequence.flatMap { snapshot.order.pages[Int($0)].cities.map(Int.init) }
        html.raw("<div class=\"scroll\"><table class=\"cities\">\n<caption>")
        if shown.count > Self.maximumCities {
            // Stable, so that equal indices stay in the order of names.
            shown = Array(shown.sorted { snapshot.states[$0].index > snapshot.states[$1].index }[..<Self.maximumCities])
            html.raw("The \(Self.maximumCities) cities with the highest index of \(snapshot.cityCount). ")
        }
        html.raw("Scale: ")
        html.text(scale.name)
        html.raw("</caption>\n<thead><tr><th scope=\"col\">City</th><th scope=\"col\">Category</th>")
        html.raw("<th scope=\"col\" class=\"number\">AQI</th><th scope=\"col\">Last change</th>")
        html.raw("<th scope=\"col\">Updated</th></tr></thead>\n<tbody>\n")
        for city in shown { row(city, snapshot, scale: scale, at: now, &html) }
        html.raw("</tbody></table></div>\n")
    }

    private func row(
        _ city: Int, _ snapshot: StoreSnapshot, scale: Scale, at now: Timestamp, _ html: inout HTML
    ) {
        let state = snapshot.states[city]
        let changes = state.changes
        let category = scale.categories[Int(state.category) - 1]
        let name = snapshot.names.bytes[state.nameRange]
        html.raw("<tr><th scope=\"row\"><a href=\"\(historyPath)?city=")
        html.percentEncoded(name)
        // Isolated, so that a name that is written from right to left moves nothing else.
        html.raw("\"><bdi>")
        html.text(name)
        html.raw("</bdi></a></th><td><span class=\"category\" style=\"background:\(category.color);color:")
        html.raw(category.textColor)
        html.raw("\"><span class=\"face\" aria-hidden=\"true\">")
        html.text(category.face)
        html.raw("</span> ")
        html.text(category.name)
        html.raw("</span></td><td class=\"number index\">")
        html.text(Self.twoDecimals(state.index))
        html.raw("</td><td>")
        if let changedAt = changes.changedAt {
            let isBetter = changes.direction > 0
            html.raw("<span class=\"\(isBetter ? "better" : "worse")\">")
            html.text(isBetter ? "▲ better" : "▼ worse")
            html.raw("</span> <small>")
            html.text(Self.age(of: changedAt, at: now))
            html.raw("</small>")
        } else {
            html.text("–")
        }
        html.raw("</td><td data-label=\"Updated\">")
        html.text(Self.age(of: state.updatedAt, at: now))
        html.raw("</td></tr>\n")
    }

    /// As people say it.
    static func age(of time: Timestamp, at now: Timestamp) -> String {
        func ago(_ count: Int64, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s") ago" }
        let seconds = max(0, now - time) / 1000
        switch seconds {
        case ..<5: return "just now"
        case ..<60: return ago(seconds, "second")
        case ..<3600: return ago(seconds / 60, "minute")
        case ..<86_400: return ago(seconds / 3600, "hour")
        default: return ago(seconds / 86_400, "day")
        }
    }

    private static func twoDecimals(_ index: Double) -> String {
        let hundredths = Int((index * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100)." + (fraction < 10 ? "0" : "") + "\(fraction)"
    }

    private static let head = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="10">
        <title>Air Quality Exporter</title>
        <style>
        :root { --page: #fff; --text: #1c1e21; --quiet: #5c6370; --line: #e1e4e8; --link: #0b57d0; --good: #2c6b2f; --bad: #b3261e; }
        @media (prefers-color-scheme: dark) {
          :root { --page: #16181c; --text: #e6e8eb; --quiet: #a0a7b2; --line: #2e3238; --link: #8ab4f8; --good: #7fd07f; --bad: #ff8a80; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
        header { background: #c4411f; color: #fff; padding: 1rem max(1rem, calc(50vw - 30rem)); }
        header h1 { margin: 0; font-size: 1.5rem; }
        header p { margin: 0; }
        main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
        nav ul { margin: 0; padding-left: 1.25rem; }
        h2 { margin: 1.5rem 0 .5rem; font-size: 1.2rem; }
        a { color: var(--link); }
        .scroll { overflow-x: auto; }
        table { width: 100%; border-collapse: collapse; }
        caption { text-align: left; color: var(--quiet); padding-bottom: .25rem; }
        th, td { padding: .4rem .75rem .4rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: baseline; }
        th:last-child, td:last-child { padding-right: 0; }
        thead th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
        tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 8rem; }
        small { color: var(--quiet); }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .index + td, .cities th:nth-child(4) { padding-left: 1.5rem; }
        .category { display: inline-block; padding: 0 .6rem; border-radius: 1rem; white-space: nowrap; }
        .face { font-family: "Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji", sans-serif; }
        .better, .connected { color: var(--good); white-space: nowrap; }
        .worse, .waiting { color: var(--bad); white-space: nowrap; }
        .paused { color: var(--quiet); }
        @media (max-width: 40rem) {
          table, tbody, caption { display: block; }
          thead { display: none; }
          tbody tr { display: grid; grid-template-columns: 1fr auto; gap: .2rem 1rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
          tbody th, tbody td, .index + td { padding: 0; border: 0; min-width: 0; text-align: left; }
          .cities th, .index { order: -1; }
          .index { font-weight: 600; }
          .index, .index + td { text-align: right; }
          .cities [data-label] { grid-column: 1 / -1; }
          .feeds tbody tr { display: flex; flex-wrap: wrap; }
          .feeds tbody th { flex-basis: 100%; }
          [data-label]::before { content: attr(data-label) " "; color: var(--quiet); }
        }
        </style>
        </head>
        <body>

        """
}

extension Category {
    /// What can be read on the category's colour: by the colour's brightness (W3C's formula for colour visibility).
    var textColor: String {
        guard let number = UInt32(color.dropFirst(), radix: 16) else { return "#000" }
        let brightness = (299 * (number >> 16 & 0xFF) + 587 * (number >> 8 & 0xFF) + 114 * (number & 0xFF)) / 1000
        return brightness > 130 ? "#000" : "#fff"
    }
}

/// Bytes of HTML.
private struct HTML {
    private(set) var bytes: [UInt8] = []

    /// Markup of ours.
    mutating func raw(_ markup: String) {
        bytes.append(contentsOf: markup.utf8)
    }

    /// Text of anybody, inside an element or a quoted attribute.
    mutating func text(_ text: String) {
        self.text(Array(text.utf8)[...])
    }

    mutating func text(_ text: ArraySlice<UInt8>) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): raw("&amp;")
            case UInt8(ascii: "<"): raw("&lt;")
            case UInt8(ascii: ">"): raw("&gt;")
            case UInt8(ascii: "\""): raw("&quot;")
            default: bytes.append(byte)
            }
        }
    }

    /// A value in the query of an address.
    mutating func percentEncoded(_ text: ArraySlice<UInt8>) {
        for byte in text {
            let isUnreserved =
                (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
            if isUnreserved {
                bytes.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                raw("%" + (digits.utf8.count < 2 ? "0" : "") + digits)
            }
        }
    }
}
