import AirQuality

// The page `/about`: version, scale, sources, state of the feeds, and every path.

extension Page {
    /// The page about the exporter as a document in UTF-8.
    public func about() -> [UInt8] {
        let content: Markup = """
            <main id="content" class="about">
            <nav class="steps" aria-label="Cities"><a href="./">All cities</a></nav>
            <h1>About this page</h1>
            <p>This page shows the latest reading and recent history of each city.</p>
            <h2>\(scale.title)</h2>
            <p>\(scale.authority). The whole number shown is the integer part of the index, by which the category \
            is decided. An arrow up means that the category got better, an arrow down that it got worse.</p>
            \(table("Categories", ["Category", "From", "Meaning"], numbers: [1], categories))\
            <h2>Feeds</h2>
            \(table("Feeds", ["Feed", "State", "Last message", "Messages", "Readings", "Rejected"], numbers: [3, 4, 5], feeds))\
            <h2>For programs</h2>
            <ul>
            \(Markup(each: settings.paths) { path($0.path, $0.meaning) })\
            \(path("/?kiosk", "the list as a wall display"))</ul>
            <p>Air Quality Exporter \(settings.version)</p>
            </main>

            """
        return render(
            content, title: "About · Air quality", root: "./", skipTo: "content",
            newest: snapshot.order.map { snapshot.states[$0].updatedAt }.max())
    }

    private var categories: Markup {
        Markup(each: scale.categories) { category in
            """
            <tr><td><span class="word c\(category.number)">\(category.name)</span></td>\
            <td class="number">\(Int(category.from))</td>\
            <td>\(category.healthStatement)</td></tr>

            """
        }
    }

    /// Feeds by number: their addresses are nobody's business who can read the page. The metrics have them.
    private var feeds: Markup {
        Markup(each: snapshot.feeds.enumerated()) { number, feed in
            let rejected = RejectionReason.allCases.reduce(0) { $0 + feed.rejections[$1] }
            return """
                <tr><th scope="row">\(number + 1)</th><td>\(state(of: feed))</td>\
                <td>\(feed.lastMessageAt.map(ago) ?? "none yet")</td><td class="number">\(feed.messages)</td>\
                <td class="number">\(feed.readings)</td><td class="number">\(rejected)</td></tr>

                """
        }
    }

    private func state(of feed: FeedStatistics) -> String {
        if feed.isPaused { return "paused" }
        return feed.isConnected ? "connected" : "not connected"
    }

    private func path(_ path: String, _ meaning: String) -> Markup {
        "<li><a href=\"./\(String(path.dropFirst()))\">\(path)</a>: \(meaning)</li>\n"
    }

    /// - Parameter numbers: the columns with numbers.
    private func table(_ label: String, _ titles: [String], numbers: [Int], _ rows: Markup) -> Markup {
        let heads = Markup(each: titles.enumerated()) { column, title in
            "<th scope=\"col\"\(" class=\"number\"", if: numbers.contains(column))>\(title)</th>"
        }
        return """
            <div class="scroll" tabindex="0" role="group" aria-label="\(label)">
            <table>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </div>

            """
    }
}
