import AirQuality
public import HTTPText

extension Page {
    /// Renders `/city/NAME`, a city and its points as a chart, for a form-encoded query string without `?`. Returns
    /// `nil` if there is no such city.
    public func city(_ name: [UInt8], _ query: String) throws(QueryError) -> [UInt8]? {
        let query = try ChartQuery(query)
        guard let city = snapshot.find(name) else { return nil }
        let state = snapshot.states[city]
        let category = scale.category(state.category)
        let chart = Chart(snapshot.points(of: city), query, at: now, scale: scale)
        let isOverdue = snapshot.isOverdue(city, at: now)
        let content: Markup = """
            <main id="content" class="single">
            <nav class="back" aria-label="Cities"><a href="../">All cities</a></nav>
            <section class="current c\(category.number)\(" overdue", if: isOverdue)" data-city="\(name[...])" data-category="\(category.number)">
            \(disc(category))
            <h1><bdi>\(name[...])</bdi></h1>
            \(country(state))
            <p class="value"><b class="index">\(Int(state.aqi))</b> <small>\(scale.title)</small></p>
            <p class="words"><span class="word">\(category.name)</span> \(cause(city)) \(change(state.changes)) \
            \(updated(state, isOverdue: isOverdue))</p>
            <p class="health">\(category.healthStatement)</p>
            <dl class="advice"><div><dt>Sport outdoors</dt><dd>\(category.sportAdvice)</dd></div>
            <div><dt>Sensitive people</dt><dd>\(category.sensitiveAdvice)</dd></div></dl>
            </section>
            \(figure(chart, name[...], query))<div class="facts">
            \(pollutants(state.extras))</div>
            \(pointTable(chart, name[...]))</main>

            """
        return render(content, title: title(state), root: "../")
    }

    /// Renders the page of a city that does not exist.
    public func missingCity() -> [UInt8] {
        let content: Markup = """
            <main id="content">
            <h1>No such city</h1>
            <p>No city of this name has readings. <a href="../">All cities</a></p>
            </main>

            """
        return render(content, title: "No such city · Air quality", root: "../")
    }

    // MARK: The chart

    private func figure(_ chart: Chart, _ name: ArraySlice<UInt8>, _ query: ChartQuery) -> Markup {
        let pattern = ClockPattern.year
        let from = chart.points.first?.time ?? chart.from
        let to = chart.points.last?.time ?? chart.to
        let label: Markup = """
            \(scale.title) of \(name) from \(pattern.text(of: from)) to \(pattern.text(of: to)) UTC, \
            \(chart.points.count)\(" of \(chart.count)", if: chart.points.count < chart.count) points\
            \(", listed in the table below", if: !chart.points.isEmpty)
            """
        return """
            <figure class="chart" id="chart">
            <figcaption>\("No data from ", if: chart.points.isEmpty)\(clock: from, pattern) \
            to \(clock: to, pattern), <span class="zone">UTC</span></figcaption>
            \(chart.markup(query.style, label: label))\(controls(chart, query))</figure>

            """
    }

    private func controls(_ chart: Chart, _ query: ChartQuery) -> Markup {
        let styles = Markup(each: ChartQuery.Style.allCases) { style in
            link(style.rawValue, to: query.link(style: style), isCurrent: query.style == style)
        }
        let offered = ChartQuery.Range.allCases.filter {
            query.range == $0 || now - chart.oldest > $0.shortestHistory.milliseconds
        }
        let ranges = Markup(each: offered) { range in
            link(range.rawValue, to: query.link(range: range), isCurrent: query.range == range)
        }
        let periods: Markup = """
            <nav class="order" aria-label="Period">
            \(ranges)\(link("all", to: query.link(), isCurrent: !query.isZoomed))</nav>

            """
        let half = (chart.to - chart.from) / 2
        // No link leads beyond now.
        func zoom(_ text: String, _ left: Int64, _ right: Int64) -> Markup {
            let to = max(1, min(chart.to + right, now))
            return link(text, to: query.link(from: max(0, to - (chart.to - chart.from + right - left)), to: to))
        }
        let steps = Markup(each: [("Zoom out", -half, half), ("Earlier", -half, -half)], zoom)
        let later = zoom("Later", half, half)
        return """
            <div class="controls">
            <nav class="order" aria-label="Kind of chart">
            \(styles)</nav>
            \(periods, if: !offered.isEmpty || query.isZoomed)<nav class="zoom" aria-label="Time shown">
            \(zoom("Zoom in", half / 2, -half / 2), if: half > 1000)\(steps, if: query.isZoomed)\
            \(later, if: query.isZoomed && chart.to < now)</nav>
            </div>

            """
    }

    // MARK: Beside and below the chart

    /// The sub-index and concentration of each pollutant for which either is known.
    private func pollutants(_ extras: CityExtras?) -> Markup {
        let tiles = Markup(each: Pollutant.allCases.enumerated()) { place, pollutant in
            let subIndex = extras?.subIndices?[place]
            let concentration = extras?.concentrations?[place]
            guard subIndex != nil || concentration != nil else { return "" }
            let value = subIndex.map { "<b class=\"index c\(scale.category(of: $0))\">\(Int($0))</b> " as Markup } ?? ""
            let amount = concentration.map { "<small>\(amount: $0) µg/m³</small>" as Markup } ?? ""
            return "<div><dt>\(pollutant.title)</dt><dd>\(value)\(amount)</dd></div>\n"
        }
        guard !tiles.bytes.isEmpty else { return "" }
        return """
            <h2>By pollutant\(" (\(scale.title))", if: extras?.subIndices?.greatest != nil)</h2>
            <dl class="tiles">
            \(tiles)</dl>

            """
    }

    /// The points, newest first, with their positions in the chart: the script shows the row nearest the pointer.
    private func pointTable(_ chart: Chart, _ name: ArraySlice<UInt8>) -> Markup {
        let rows = Markup(each: chart.points.reversed()) { point in
            let category = scale.category(of: point.aqi)
            return """
                <tr data-x="\(percent: chart.x(point.time))" data-y="\(percent: chart.y(point.aqi))">\
                <td>\(clock: point.time, chart.pattern)</td><td class="number">\(Int(point.aqi))</td>\
                <td><span class="word c\(category)">\(scale.category(category).name)</span></td></tr>

                """
        }
        let grafana: Markup =
            settings.grafanaURL.map {
                "<a href=\"\($0)/d/aqi-city?var-city=\(percent: name)\">View this city in Grafana</a>\n"
            } ?? ""
        return """
            <details id="points">
            <summary>Show data table</summary>
            \(table("Points", columns: ["Time", scale.title, "Category"], number: 1, rows))
            </details>
            <nav class="links" aria-label="Elsewhere">
            \(grafana)<a href="../history.json?city=\(percent: name)">Download JSON</a>
            </nav>

            """
    }
}
