import AirQuality
import Bytes

// The page `/city/NAME`: one city and its points as a chart.

extension Page {
    /// The page and its status, 400 when there is no city to compare with; nil when there is no city of this name.
    public func city(_ name: [UInt8], _ query: ChartQuery) -> (status: Int, document: [UInt8])? {
        guard let (city, previous, next) = snapshot.find(name) else { return nil }
        let (wanted, other) = (query.other, snapshot.find(query.other)?.city ?? snapshot.similar(to: query.other))
        var query = query
        query.other = other.map { Array(snapshot.name(of: $0)) } ?? []
        let state = snapshot.states[city]
        let category = scale.category(state.category)
        let points = snapshot.points(of: city)
        let chart = Chart(
            points, other: other.map(snapshot.points) ?? [],
            from: query.range.map { now - $0.milliseconds } ?? query.from,
            // A little beyond, so that the last point is whole.
            to: query.range.map { now + $0.milliseconds / 40 } ?? query.to, beginsAtZero: query.style == .bars,
            scale: scale)
        let changes = Markup(each: [("Last hour", 3_600_000), ("Since yesterday", 86_400_000)]) { text, age in
            change(points, since: age).map { "<span>\(text) \(signed: $0)</span>\n" } ?? ""
        }
        let missing = other == nil ? wanted : []
        let content: Markup = """
            <main id="content" class="single">
            <nav class="steps" aria-label="Cities">
            <a href="../\("?kiosk", if: query.isKiosk)">All cities</a>
            \(step(previous, "prev", query))\(step(next, "next", query))</nav>
            <section class="current c\(category.number)" data-city="\(name[...])" data-category="\(category.number)" \
            data-aqi="\(decimals: state.index)">
            \(disc(category))
            <h1><bdi>\(name[...])</bdi></h1>
            <p class="value">\(index(state.index)) <small>\(scale.title)</small></p>
            <p class="words"><span class="word">\(category.name)</span> \(cause(city)) \(change(state.changes)) \
            \(changes)<span class="updated">updated \(ago(state.updatedAt))</span></p>
            <p class="health">\(category.healthStatement)</p>
            </section>
            \(pollutants(snapshot.states[city].extras))\(figure(chart, name[...], query, missing: missing, all: points))\
            \(statistics(chart))\(table(chart, query))\(links(name[...]))</main>

            """
        let page = render(
            content, title: "\(String(decoding: name, as: UTF8.self)) · Air quality", root: "../", skipTo: "content",
            isKiosk: query.isKiosk, newestReading: state.updatedAt)
        return (missing.isEmpty ? 200 : 400, page)
    }

    /// The page for a name that belongs to no known city.
    public func unknownCity(_ name: [UInt8]) -> [UInt8] {
        let part = name.count <= CityName.maximumCount ? name : []
        let content: Markup = """
            <main id="content" class="single">
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
            <a class="\(relation)" rel="\(relation)" href="\(Self.pathStep(name))\(query.link { ($0.from, $0.to) = (nil, nil) })">\
            \(relation == "prev" ? "Previous" : "Next"): <bdi>\(name)</bdi></a>

            """
    }

    // MARK: The chart

    private func figure(
        _ chart: Chart, _ name: ArraySlice<UInt8>, _ query: ChartQuery, missing: [UInt8], all points: [HistoryPoint]
    ) -> Markup {
        let title = scale.title
        let label: Markup = """
            \(title) of \(name) from \(chart.clock(chart.from)) to \(chart.clock(chart.to)) UTC, \
            \(chart.points.count) points; the table below has them all
            """
        let caption: Markup =
            chart.points.isEmpty ? "No data in this range." : "Times in <span class=\"zone\">UTC</span>"
        let legend: Markup =
            query.other.isEmpty
            ? missing.isEmpty ? "" : "<p role=\"alert\">No city named “<bdi>\(missing[...])</bdi>”</p>\n"
            : """
            <p class="legend"><span class="sample"></span> <bdi>\(name)</bdi> \
            <span class="sample other"></span> <bdi>\(query.other[...])</bdi></p>

            """
        return """
            <figure class="chart" data-points="\(points.count)">
            <figcaption>\(caption)</figcaption>
            \(legend)\(chart.markup(query.style, label: label, other: query.other[...]))\
            \(controls(chart, query, all: points))\(comparison(query, missing))</figure>

            """
    }

    private func controls(_ chart: Chart, _ query: ChartQuery, all points: [HistoryPoint]) -> Markup {
        let span = chart.to - chart.from
        func link(
            _ text: String, _ id: String, isCurrent: Bool = false, _ change: (inout ChartQuery) -> Void
        ) -> Markup {
            "<a id=\"\(id)\" href=\"\(query.link(change))\"\(Self.current, if: isCurrent)>\(text)</a>\n"
        }
        func link(_ text: String, _ id: String, from: Timestamp, to: Timestamp) -> Markup {
            let from = max(0, from)
            return link(text, id) { ($0.from, $0.to, $0.range) = (from, max(from + 1, to), nil) }
        }
        let isZoomed = query.from != nil || query.to != nil || query.range != nil
        var ranges = Markup()
        // A range that has nothing more than the one before it would be the same picture.
        var shorter: Int64 = 0
        for range in ChartQuery.Range.allCases where (points.first?.time ?? now) < now - shorter {
            ranges += link(range.title, "range-\(range.rawValue)", isCurrent: query.range == range) {
                ($0.from, $0.to, $0.range) = (nil, nil, range)
            }
            shorter = range.milliseconds
        }
        let steps: Markup = """
            \(link("Zoom out", "zoom-out", from: chart.from - span / 2, to: chart.to + span / 2))\
            \(link("Earlier", "earlier", from: chart.from - span / 2, to: chart.to - span / 2))\
            \(link("Later", "later", from: chart.from + span / 2, to: chart.to + span / 2))
            """
        return """
            <div class="controls">
            <nav class="order" aria-label="Kind of chart">
            \(link("Line", "as-line", isCurrent: query.style == .line) { $0.style = .line })\
            \(link("Bars", "as-bars", isCurrent: query.style == .bars) { $0.style = .bars })</nav>
            <nav class="order" aria-label="Period">
            \(ranges)\
            \(link("All", "zoom-all", isCurrent: !isZoomed) { ($0.from, $0.to, $0.range) = (nil, nil, nil) })</nav>
            <nav class="zoom" aria-label="Time shown">
            \(link("Zoom in", "zoom-in", from: chart.from + span / 4, to: chart.to - span / 4), if: span > 2000)\
            \(steps, if: isZoomed)</nav>
            </div>

            """
    }

    private func comparison(_ query: ChartQuery, _ missing: [UInt8]) -> Markup {
        let names = Markup(each: snapshot.order.prefix(200)) { "<option value=\"\(snapshot.name(of: $0))\">" }
        return """
            <form class="compare">
            <label for="compare">Compare with</label>
            <input id="compare" name="compare" value="\((query.other + missing)[...])" maxlength="\(CityName.maximumCount)" \
            list="names" autocomplete="off" spellcheck="false"><datalist id="names">\(names)</datalist>\
            \(hidden("chart", query.style == .line ? nil : query.style.rawValue))\(hidden("range", query.range?.rawValue))
            <button>Compare</button>
            </form>

            """
    }

    // MARK: Below the chart

    /// How the index differs from a time before: from the point nearest to it, if one is near enough.
    private func change(_ points: [HistoryPoint], since age: Int64) -> Int? {
        guard let last = points.last,
            let then = points.min(by: { abs($0.time - (now - age)) < abs($1.time - (now - age)) }),
            abs(then.time - (now - age)) <= age / 12 + 60_000, then.time < last.time
        else { return nil }
        return Int(last.index) - Int(then.index)
    }

    private func statistics(_ chart: Chart) -> Markup {
        guard let first = chart.points.first else { return "" }
        let lowest = chart.points.reduce(first) { $1.index < $0.index ? $1 : $0 }
        let highest = chart.points.reduce(first) { $1.index > $0.index ? $1 : $0 }
        let average = chart.points.reduce(0) { $0 + $1.index } / Double(chart.points.count)
        func item(_ title: String, _ value: Markup, _ note: Markup) -> Markup {
            "<div><dt>\(title)</dt><dd><b>\(value)</b> <small>\(note)</small></dd></div>\n"
        }
        return """
            <h2>In this period</h2>
            <dl class="statistics">
            \(item("Lowest", "\(Int(lowest.index))", "at \(clock: lowest.time, chart.pattern)"))\
            \(item("Average", "\(Int(average))", "of \(chart.points.count) points"))\
            \(item("Highest", "\(Int(highest.index))", "at \(clock: highest.time, chart.pattern)"))</dl>

            """
    }

    private func table(_ chart: Chart, _ query: ChartQuery) -> Markup {
        let compared = !query.other.isEmpty
        let rows = Markup(each: chart.points.reversed()) { point in
            let other: Markup = chart.other(at: point.time).map { "\(Int($0.index))" } ?? ""
            return """
                <tr><td>\(clock: point.time, chart.pattern)</td><td class="number">\(Int(point.index))</td>\
                <td><span class="word c\(point.category)">\(scale.category(point.category).name)</span></td>\
                \("<td class=\"number\">\(other)</td>", if: compared)</tr>

                """
        }
        let other: Markup = "<th scope=\"col\" class=\"number\"><bdi>\(query.other[...])</bdi></th>"
        return """
            <details class="points" id="points">
            <summary>Show data table</summary>
            <table>
            <thead><tr><th scope="col">Time</th><th scope="col" class="number">\(scale.title)</th><th scope="col">Category</th>\(other, if: compared)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </details>

            """
    }

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
                let category = scale.category(of: index)
                number = "<b class=\"index c\(category)\">\(Int(index))</b> "
            }
            return "<div><dt>\(Pollutant.allCases[pollutant].title)</dt><dd>\(number)\(concentration)</dd></div>\n"
        }
        return """
            <h2>By pollutant\(" (\(scale.title))", if: extras?.subIndices?.greatest != nil)</h2>
            <dl class="statistics pollutants">
            \(tiles)</dl>

            """
    }

    private func links(_ name: ArraySlice<UInt8>) -> Markup {
        let grafana: Markup =
            settings.grafanaURL.map {
                "<a href=\"\($0)/d/aqi-city?var-city=\(percent: name)\">This city in Grafana</a>\n"
            } ?? ""
        return """
            <nav class="links" aria-label="Elsewhere">
            \(grafana)<a href="../history.json?city=\(percent: name)">Download JSON</a>
            </nav>

            """
    }
}
