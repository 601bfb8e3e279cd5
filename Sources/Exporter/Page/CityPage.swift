import AirQuality
import Bytes

// The page `/city/NAME`: one city and its points as a chart.

extension Page {
    /// The page of a city; `nil` when there is none of this name.
    public func city(_ name: [UInt8], _ query: ChartQuery) -> [UInt8]? {
        guard let (city, previous, next) = snapshot.find(name) else { return nil }
        let state = snapshot.states[city]
        let category = scale.category(state.category)
        let points = snapshot.points(of: city)
        let chart = Chart(points, query, at: now, scale: scale)
        let changes = Markup(each: [("Last hour", 3_600_000), ("Since yesterday", 86_400_000)]) { text, age in
            change(points, since: age).map { "<span>\(text) \(signed: $0)</span>\n" } ?? ""
        }
        let content: Markup = """
            <main id="content" class="single">
            <nav class="steps" aria-label="Cities">
            <a href="../\("?kiosk", if: query.isKiosk)">All cities</a>
            \(step(previous, "prev", query))\(step(next, "next", query))</nav>
            <section class="current c\(category.number)" data-city="\(name[...])" data-category="\(category.number)">
            \(disc(category))
            <h1><bdi>\(name[...])</bdi></h1>
            <p class="value">\(index(state.index)) <small>\(scale.title)</small></p>
            <p class="words"><span class="word">\(category.name)</span> \(cause(city)) \(change(state.changes)) \
            \(changes)<span class="updated">updated \(ago(state.updatedAt))</span></p>
            <p class="health">\(category.healthStatement)</p>
            </section>
            \(figure(chart, name[...], query, first: points[0].time))<div class="facts">
            \(pollutants(state.extras))\(statistics(chart))</div>
            \(table(chart, name[...]))</main>

            """
        return render(
            content, title: "\(String(decoding: name, as: UTF8.self)) · Air quality", root: "../", skipTo: "content",
            isKiosk: query.isKiosk, newest: state.updatedAt)
    }

    /// The page for a name that belongs to no known city.
    public func unknownCity(_ name: [UInt8]) -> [UInt8] {
        let part = name.count <= CityName.maximumCount ? name : []
        let content: Markup = """
            <main id="content" class="unknown">
            <h1>Unknown city</h1>
            <p>No reading of a city named “<bdi>\(part[...])</bdi>” has arrived, or it has expired.</p>
            <p><a href="../">All cities</a></p>
            <p><a href="../?search=\(percent: part[...])">Search similar names</a></p>
            </main>

            """
        return render(content, title: "Unknown city · Air quality", root: "../", skipTo: "content")
    }

    /// A link to a neighbour by name.
    private func step(_ city: Int?, _ relation: String, _ query: ChartQuery) -> Markup {
        guard let city else { return "" }
        let name = snapshot.name(of: city)
        return """
            <a class="\(relation)" rel="\(relation)" href="\(Self.pathStep(name))\(query.link(range: query.range))">\
            \(relation == "prev" ? "Previous" : "Next"): <bdi>\(name)</bdi></a>

            """
    }

    /// How the index differs from a time before: from the point nearest to it, if one is near enough.
    private func change(_ points: [HistoryPoint], since age: Int64) -> Int? {
        func distance(_ point: HistoryPoint) -> Int64 { abs(point.time - (now - age)) }
        guard let last = points.last, let then = points.min(by: { distance($0) < distance($1) }),
            distance(then) <= age / 12 + 60_000, then.time < last.time
        else { return nil }
        return Int(last.index) - Int(then.index)
    }

    // MARK: The chart

    private func figure(_ chart: Chart, _ name: ArraySlice<UInt8>, _ query: ChartQuery, first: Timestamp) -> Markup {
        let label: Markup = """
            \(scale.title) of \(name) from \(chart.clock(chart.from)) to \(chart.clock(chart.to)) UTC, \
            \(chart.points.count) points; the table below has them all
            """
        let caption: Markup =
            chart.points.isEmpty ? "No data in this range." : "Times in <span class=\"zone\">UTC</span>"
        return """
            <figure class="chart">
            <figcaption>\(caption)</figcaption>
            \(chart.markup(query.style, label: label))\(controls(chart, query, first: first))</figure>

            """
    }

    private func controls(_ chart: Chart, _ query: ChartQuery, first: Timestamp) -> Markup {
        let span = chart.to - chart.from
        var ranges = Markup()
        // A range that has nothing more than the one before it would be the same picture.
        var shorter: Int64 = 0
        for range in ChartQuery.Range.allCases where first < now - shorter {
            ranges += link(range.title, to: query.link(range: range), isCurrent: query.range == range)
            shorter = range.milliseconds
        }
        func jump(_ text: String, _ id: String, from: Timestamp, to: Timestamp) -> Markup {
            "<a id=\"\(id)\" href=\"\(query.link(from: from, to: to))\">\(text)</a>\n"
        }
        let steps: Markup = """
            \(jump("Zoom out", "zoom-out", from: chart.from - span / 2, to: chart.to + span / 2))\
            \(jump("Earlier", "earlier", from: chart.from - span / 2, to: chart.to - span / 2))\
            \(jump("Later", "later", from: chart.from + span / 2, to: chart.to + span / 2))
            """
        let styles = Markup(each: ChartQuery.Style.allCases) { style in
            link(
                style == .line ? "Line" : "Bars", to: query.link { $0.style = style }, isCurrent: query.style == style)
        }
        return """
            <div class="controls">
            <nav class="order" aria-label="Kind of chart">
            \(styles)</nav>
            <nav class="order" aria-label="Period">
            \(ranges)\(link("All", to: query.link(range: nil), isCurrent: !query.isZoomed))</nav>
            <nav class="zoom" aria-label="Time shown">
            \(jump("Zoom in", "zoom-in", from: chart.from + span / 4, to: chart.to - span / 4), if: span > 2000)\
            \(steps, if: query.isZoomed)</nav>
            </div>

            """
    }

    // MARK: Beside and below the chart

    /// The index and the concentration of each pollutant of which one is known, the greatest index first.
    private func pollutants(_ extras: CityExtras?) -> Markup {
        func index(_ pollutant: Int) -> Double { extras?.subIndices?[pollutant] ?? -1 }
        let known = PollutantValues.pollutants.indices.filter { index($0) >= 0 || extras?.concentrations?[$0] != nil }
        guard !known.isEmpty else { return "" }
        let tiles = Markup(each: known.sorted { (index($0), $1) > (index($1), $0) }) { pollutant in
            let concentration: Markup =
                extras?.concentrations?[pollutant].map { "<small>\(amount: $0) µg/m³</small>" } ?? ""
            var number: Markup = ""
            if let index = extras?.subIndices?[pollutant] {
                number = "<b class=\"index c\(scale.category(of: index))\">\(Int(index))</b> "
            }
            return "<div><dt>\(Pollutant.allCases[pollutant].title)</dt><dd>\(number)\(concentration)</dd></div>\n"
        }
        return """
            <h2>By pollutant\(" (\(scale.title))", if: extras?.subIndices?.greatest != nil)</h2>
            <dl class="tiles">
            \(tiles)</dl>

            """
    }

    private func statistics(_ chart: Chart) -> Markup {
        guard let lowest = chart.points.min(by: { $0.index < $1.index }),
            let highest = chart.points.max(by: { $0.index < $1.index })
        else { return "" }
        let average = chart.points.reduce(0) { $0 + $1.index } / Double(chart.points.count)
        func item(_ title: String, _ value: Double, _ note: Markup) -> Markup {
            "<div><dt>\(title)</dt><dd><b>\(Int(value))</b> <small>\(note)</small></dd></div>\n"
        }
        return """
            <h2>In this period</h2>
            <dl class="tiles statistics">
            \(item("Lowest", lowest.index, "at \(clock: lowest.time, chart.pattern)"))\
            \(item("Average", average, "of \(chart.points.count) points"))\
            \(item("Highest", highest.index, "at \(clock: highest.time, chart.pattern)"))</dl>

            """
    }

    /// The points, the newest first, with their places in the chart: the script shows the row that a pointer is nearest
    /// to.
    private func table(_ chart: Chart, _ name: ArraySlice<UInt8>) -> Markup {
        let rows = Markup(each: chart.points.reversed()) { point in
            """
            <tr data-x="\(percent: chart.x(point.time))" data-y="\(percent: chart.y(point.index))">\
            <td>\(clock: point.time, chart.pattern)</td><td class="number">\(Int(point.index))</td>\
            <td><span class="word c\(point.category)">\(scale.category(point.category).name)</span></td></tr>

            """
        }
        let grafana: Markup =
            settings.grafanaURL.map {
                "<a href=\"\($0)/d/aqi-city?var-city=\(percent: name)\">This city in Grafana</a>\n"
            } ?? ""
        return """
            <details id="points">
            <summary>Show data table</summary>
            <div class="scroll" tabindex="0" role="group" aria-label="Points">
            <table>
            <thead><tr><th scope="col">Time</th><th scope="col" class="number">\(scale.title)</th>\
            <th scope="col">Category</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </div>
            </details>
            <nav class="links" aria-label="Elsewhere">
            \(grafana)<a href="../history.json?city=\(percent: name)">Download JSON</a>
            </nav>

            """
    }
}
