import AirQuality

// The page `/about`: version, scale, sources, state of the feeds, and every path.

extension Page {
    public func about() -> [UInt8] {
        let categories = Markup(each: scale.categories) { category in
            """
            <tr><td><span class="word c\(category.number)">\(category.name)</span></td>\
            <td class="number">\(Int(category.from))</td>\
            <td>\(category.healthStatement)</td></tr>

            """
        }
        // By number: their addresses are nobody's business who can read the page. The metrics have them.
        let feeds = Markup(each: snapshot.feeds.enumerated()) { number, feed in
            let state = feed.isPaused ? "paused" : feed.isConnected ? "connected" : "not connected"
            let rejected = RejectionReason.allCases.reduce(0) { $0 + feed.rejections[$1] }
            return """
                <tr><th scope="row">\(number + 1)</th><td>\(state)</td>\
                <td>\(feed.lastMessageAt.map(ago) ?? "none yet")</td><td class="number">\(feed.messages)</td>\
                <td class="number">\(feed.readings)</td><td class="number">\(rejected)</td></tr>

                """
        }
        let path = settings.telemetryPath
        let hint: Markup = outage?.hint.map { "<p>\($0)</p>\n" } ?? ""
        let map: Markup = """
            <h2>Map</h2>
            <p>Country outlines: <a href="https://www.naturalearthdata.com">Natural Earth</a>, in the public \
            domain. Borders are drawn where control of the land changes, regardless of claims.</p>

            """
        let content: Markup = """
            <main id="content" class="about">
            <nav class="steps" aria-label="Cities"><a href="./">All cities</a></nav>
            <h1>About this page</h1>
            <p>This page shows the latest reading and recent history of each city.</p>
            <h2>\(scale.title)</h2>
            <p>\(scale.authority). The whole number shown is the integer part of the index, by which the category \
            is decided.</p>
            <div class="scroll" tabindex="0" role="group" aria-label="Categories">
            <table>
            <thead><tr><th scope="col">Category</th><th scope="col" class="number">From</th><th scope="col">Meaning</th></tr></thead>
            <tbody>
            \(categories)</tbody>
            </table>
            </div>
            <h2>Feeds</h2>
            <div class="scroll" tabindex="0" role="group" aria-label="Feeds">
            <table>
            <thead><tr><th scope="col">Feed</th><th scope="col">State</th><th scope="col">Last message</th>\
            <th scope="col" class="number">Messages</th><th scope="col" class="number">Readings</th>\
            <th scope="col" class="number">Rejected</th></tr></thead>
            <tbody>
            \(feeds)</tbody>
            </table>
            </div>
            \(hint)\(map, if: snapshot.havePlaces)<h2>For programs</h2>
            <ul>
            <li><a href="./\(String(path.dropFirst()))">\(path)</a>: metrics for Prometheus</li>
            <li><a href="./history.json">/history.json</a>: the recent points of all cities</li>
            \("<li><a href=\"./events\">/events</a>: changes as server-sent events</li>\n", if: settings.hasEvents)\
            <li><a href="./-/healthy">/-/healthy</a>: whether the exporter works</li>
            <li><a href="./-/ready">/-/ready</a>: whether its data is fresh</li>
            <li><a href="./?kiosk">/?kiosk</a>: the list as a wall display</li>
            </ul>
            <p>Air Quality Exporter \(settings.version)</p>
            </main>

            """
        return render(
            content, title: "About · Air quality", root: "./", skipTo: "content",
            newestReading: snapshot.order.map { snapshot.states[$0].updatedAt }.max())
    }
}
