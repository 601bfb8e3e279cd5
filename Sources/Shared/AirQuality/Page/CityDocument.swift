/// The page `/city/NAME`: one city and its points as a chart.
public struct CityDocument: Sendable {
    private let settings: PageSettings

    public init(_ settings: PageSettings) {
        self.settings = settings
    }

    /// nil when there is no city of this name.
    ///
    /// - Parameter problem: why there is no fresh data, in one line; nil when there is.
    public func render(
        _ name: [UInt8], _ snapshot: PageSnapshot, query: ChartQuery, problem: String?, at now: Timestamp
    ) -> [UInt8]? {
        guard let (city, previous, next) = snapshot.find(name) else { return nil }
        let state = snapshot.state(of: city)
        let category = settings.scale.categories[Int(state.category) - 1]
        let frame = PageFrame(
            settings: settings, root: "../", title: "\(String(decoding: name, as: UTF8.self)) · Air quality",
            isKiosk: query.isKiosk, now: now, problem: problem, snapshot: snapshot)
        let points = snapshot.points(of: city)
        let chart = Chart(
            points, from: query.from, to: query.to, beginsAtZero: query.style == .bars, scale: settings.scale)
        var content: Markup = """
            <main id="content" class="single">
            <nav class="steps" aria-label="Cities">
            <a href="../\(query.isKiosk ? "?kiosk" : "")">All cities</a>
            \(step(previous, "prev", snapshot, query))\(step(next, "next", snapshot, query))</nav>
            <section class="current c\(category.number)" data-city="\(name[...])" data-category="\(category.number)" \
            data-aqi="\(decimals: state.index)">
            \(frame.disc(category))
            <h1><bdi>\(name[...])</bdi></h1>
            \(frame.index(state.index))
            <p class="words"><span class="word">\(category.name)</span> \(frame.change(state.changes)) \
            <span class="updated">updated \(frame.ago(state.updatedAt))</span></p>
            <p class="health">\(settings.scale.healthStatement(of: category.number))</p>
            </section>

            """
        content += figure(chart, name[...], query, all: points)
        content += statistics(chart)
        content += table(chart)
        content += links(name[...])
        content += "</main>\n"
        return frame.render(content, skipTo: "content")
    }

    /// The page for a name that belongs to no known city.
    public func renderUnknown(
        _ name: [UInt8], _ snapshot: PageSnapshot, problem: String?, at now: Timestamp
    ) -> [UInt8] {
        let frame = PageFrame(
            settings: settings, root: "../", title: "Unknown city · Air quality", isKiosk: false, now: now,
            problem: problem, snapshot: snapshot)
        let part = name.count <= CityName.maximumCount ? name : []
        let content: Markup = """
            <main id="content" class="single">
            <h1>Unknown city</h1>
            <p>No reading of a city named “<bdi>\(part[...])</bdi>” has arrived, or it has expired.</p>
            <p><a href="../">All cities</a></p>
            <p><a href="../?search=\(percent: part[...])">Cities with names like it</a></p>
            </main>

            """
        return frame.render(content, skipTo: "content")
    }

    /// A link to a neighbour by name.
    private func step(_ city: Int?, _ relation: String, _ snapshot: PageSnapshot, _ query: ChartQuery) -> Markup {
        guard let city else { return "" }
        let name = snapshot.name(of: city)
        let link = query.link { query in
            query.from = nil
            query.to = nil
        }
        return """
            <a class="\(relation)" rel="\(relation)" href="\(PageFrame.pathStep(name))\(link)">\
            <span class="hidden">\(relation == "prev" ? "Previous" : "Next") city:</span> <bdi>\(name)</bdi></a>

            """
    }

    // MARK: The chart

    private func figure(
        _ chart: Chart, _ name: ArraySlice<UInt8>, _ query: ChartQuery, all points: [HistoryPoint]
    ) -> Markup {
        let label: Markup = """
            AQI of \(name) from \(chart.clock(chart.from)) to \(chart.clock(chart.to)) UTC, \(chart.points.count) points; \
            the table below has them all
            """
        let caption: Markup =
            chart.points.isEmpty
            ? "No point of this time is kept."
            : "AQI over the bands of the scale. Times are <span class=\"zone\">UTC</span>."
        return """
            <figure class="chart" data-points="\(points.count)">
            \(chart.markup(query.style, city: name, label: label))\
            <figcaption>\(caption)</figcaption>
            \(controls(chart, query, all: points))</figure>

            """
    }

    private func controls(_ chart: Chart, _ query: ChartQuery, all points: [HistoryPoint]) -> Markup {
        let span = chart.to - chart.from
        func link(
            _ text: String, _ id: String, _ isCurrent: Bool = false, _ change: (inout ChartQuery) -> Void
        ) -> Markup {
            let current: Markup = isCurrent ? " aria-current=\"true\"" : ""
            return "<a id=\"\(id)\" href=\"\(query.link(change))\"\(current)>\(text)</a>\n"
        }
        func window(_ from: Timestamp, _ to: Timestamp) -> (inout ChartQuery) -> Void {
            { query in
                query.from = max(0, from)
                query.to = max(query.from! + 1, to)
            }
        }
        var styles = link("Line", "as-line", query.style == .line) { $0.style = .line }
        styles += link("Bars", "as-bars", query.style == .bars) { $0.style = .bars }
        var zoom = Markup()
        if span > 2000 {
            zoom += link("Zoom in", "zoom-in", false, window(chart.from + span / 4, chart.to - span / 4))
        }
        if query.from != nil || query.to != nil {
            zoom += link("Zoom out", "zoom-out", false, window(chart.from - span / 2, chart.to + span / 2))
            zoom += link("Earlier", "earlier", false, window(chart.from - span / 2, chart.to - span / 2))
            zoom += link("Later", "later", false, window(chart.from + span / 2, chart.to + span / 2))
            zoom += link("All points", "zoom-all") { query in
                query.from = nil
                query.to = nil
            }
        }
        return """
            <div class="controls">
            <nav class="order" aria-label="Kind of chart">
            \(styles)</nav>
            <nav class="zoom" aria-label="Time shown">
            \(zoom)</nav>
            </div>

            """
    }

    // MARK: Below the chart

    private func statistics(_ chart: Chart) -> Markup {
        guard let first = chart.points.first else { return "" }
        let lowest = chart.points.reduce(first) { $1.index < $0.index ? $1 : $0 }
        let highest = chart.points.reduce(first) { $1.index > $0.index ? $1 : $0 }
        let average = chart.points.reduce(0) { $0 + $1.index } / Double(chart.points.count)
        func item(_ title: String, _ value: Markup, _ note: Markup) -> Markup {
            "<div><dt>\(title)</dt><dd><b>\(value)</b> <small>\(note)</small></dd></div>\n"
        }
        func at(_ point: HistoryPoint) -> Markup {
            "at <span class=\"clock\" data-ms=\"\(point.time)\">\(chart.clock(point.time))</span>"
        }
        return """
            <dl class="statistics">
            \(item("Lowest", "\(decimals: lowest.index)", at(lowest)))\
            \(item("Average", "\(decimals: average)", "of \(chart.points.count) points"))\
            \(item("Highest", "\(decimals: highest.index)", at(highest)))</dl>

            """
    }

    private func table(_ chart: Chart) -> Markup {
        var rows: Markup = ""
        for point in chart.points.reversed() {
            rows += """
                <tr><td><span class="clock" data-ms="\(point.time)">\(chart.clock(point.time))</span></td>\
                <td class="number">\(decimals: point.index)</td>\
                <td><span class="word c\(point.category)">\(chart.name(of: point.category))</span></td></tr>

                """
        }
        return """
            <details class="points" id="points">
            <summary>The points as a table</summary>
            <table>
            <thead><tr><th scope="col">Time</th><th scope="col" class="number">AQI</th><th scope="col">Category</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </details>

            """
    }

    private func links(_ name: ArraySlice<UInt8>) -> Markup {
        var links: Markup = "<nav class=\"links\" aria-label=\"Elsewhere\">\n"
        if let grafana = settings.grafanaURL {
            links += "<a href=\"\(grafana)/d/aqi-city?var-city=\(percent: name)\">This city in Grafana</a>\n"
        }
        links += "<a href=\"../history.json?city=\(percent: name)\">Its points as JSON</a>\n</nav>\n"
        return links
    }
}
