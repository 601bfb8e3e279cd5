import Bytes

// The page `/city/NAME`: one city and its points as a chart.

extension PageSettings {
    /// The page and its status, 400 when there is no city to compare with; nil when there is no city of this name.
    ///
    /// - Parameter outage: nil while a feed is fresh, or paused on purpose.
    public func city(
        _ name: [UInt8], _ snapshot: StoreSnapshot, query: ChartQuery, outage: Outage?, at now: Timestamp
    ) -> (status: Int, document: [UInt8])? {
        guard let (city, previous, next) = snapshot.find(name) else { return nil }
        let (wanted, other) = (query.other, snapshot.find(query.other)?.city ?? snapshot.similar(to: query.other))
        var query = query
        query.other = other.map { Array(snapshot.name(of: $0)) } ?? []
        let state = snapshot.state(of: city)
        let category = scale.categories[Int(state.category) - 1]
        let frame = PageFrame(
            settings: self, root: "../", title: "\(String(decoding: name, as: UTF8.self)) · Air quality",
            isKiosk: query.isKiosk, now: now, outage: outage, snapshot: snapshot, newestReading: state.updatedAt)
        let points = snapshot.points(of: city)
        let chart = Chart(
            points, other: other.map(snapshot.points) ?? [],
            from: query.range.map { now - $0.milliseconds } ?? query.from,
            // A little beyond, so that the last point is whole.
            to: query.range.map { now + $0.milliseconds / 40 } ?? query.to, beginsAtZero: query.style == .bars,
            scale: scale)
        var changes: Markup = ""
        if let change = change(points, since: 3_600_000, now) {
            changes += "<span>Last hour \(signed: change)</span>\n"
        }
        if let change = change(points, since: 86_400_000, now) {
            changes += "<span>Since yesterday \(signed: change)</span>\n"
        }
        var content: Markup = """
            <main id="content" class="single">
            <nav class="steps" aria-label="Cities">
            <a href="../\(query.isKiosk ? "?kiosk" : "")">All cities</a>
            \(step(previous, "prev", snapshot, query))\(step(next, "next", snapshot, query))</nav>
            <section class="current c\(category.number)" data-city="\(name[...])" data-category="\(category.number)" \
            data-aqi="\(decimals: state.index)">
            \(frame.disc(category))
            <h1><bdi>\(name[...])</bdi></h1>
            <p class="value">\(frame.index(state.index)) <small>\(scale.title)</small></p>
            <p class="words"><span class="word">\(category.name)</span> \(frame.cause(city)) \(frame.change(state.changes)) \
            \(changes)<span class="updated">updated \(frame.ago(state.updatedAt))</span></p>
            <p class="health">\(category.healthStatement)</p>
            </section>

            """
        content += pollutants(snapshot.extras(of: city))
        let missing = other == nil ? wanted : []
        content += figure(chart, name[...], query, missing: missing, all: points, snapshot, now)
        content += statistics(chart)
        content += table(chart, query)
        content += links(name[...])
        content += "</main>\n"
        return (missing.isEmpty ? 200 : 400, frame.render(content, skipTo: "content"))
    }

    /// The page for a name that belongs to no known city.
    public func unknownCity(_ name: [UInt8], _ snapshot: StoreSnapshot, outage: Outage?, at now: Timestamp) -> [UInt8] {
        let frame = PageFrame(
            settings: self, root: "../", title: "Unknown city · Air quality", isKiosk: false, now: now,
            outage: outage, snapshot: snapshot)
        let part = name.count <= CityName.maximumCount ? name : []
        let content: Markup = """
            <main id="content" class="single">
            <h1>Unknown city</h1>
            <p>No reading of a city named “<bdi>\(part[...])</bdi>” has arrived, or it has expired.</p>
            <p><a href="../">All cities</a></p>
            <p><a href="../?search=\(percent: part[...])">Search similar names</a></p>
            </main>

            """
        return frame.render(content, skipTo: "content")
    }

    /// A link to a neighbour by name.
    private func step(_ city: Int?, _ relation: String, _ snapshot: StoreSnapshot, _ query: ChartQuery) -> Markup {
        guard let city else { return "" }
        let name = snapshot.name(of: city)
        let link = query.link { query in
            query.from = nil
            query.to = nil
        }
        return """
            <a class="\(relation)" rel="\(relation)" href="\(PageFrame.pathStep(name))\(link)">\
            \(relation == "prev" ? "Previous" : "Next"): <bdi>\(name)</bdi></a>

            """
    }

    // MARK: The chart

    private func figure(
        _ chart: Chart, _ name: ArraySlice<UInt8>, _ query: ChartQuery, missing: [UInt8], all points: [HistoryPoint],
        _ snapshot: StoreSnapshot, _ now: Timestamp
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
            \(controls(chart, query, all: points, now))\
            \(comparison(query, missing, snapshot))</figure>

            """
    }

    private func controls(_ chart: Chart, _ query: ChartQuery, all points: [HistoryPoint], _ now: Timestamp) -> Markup {
        let span = chart.to - chart.from
        func link(
            _ text: String, _ id: String, _ isCurrent: Bool = false, _ change: (inout ChartQuery) -> Void
        ) -> Markup {
            let current: Markup = isCurrent ? " aria-current=\"true\"" : ""
            return "<a id=\"\(id)\" href=\"\(query.link(change))\"\(current)>\(text)</a>\n"
        }
        func window(_ from: Timestamp, _ to: Timestamp) -> (inout ChartQuery) -> Void {
            { query in
                query.range = nil
                query.from = max(0, from)
                query.to = max(query.from! + 1, to)
            }
        }
        var styles = link("Line", "as-line", query.style == .line) { $0.style = .line }
        styles += link("Bars", "as-bars", query.style == .bars) { $0.style = .bars }
        var zoom = Markup()
        if span > 2000 { zoom += link("Zoom in", "zoom-in", false, window(chart.from + span / 4, chart.to - span / 4)) }
        var ranges = Markup()
        let ages: [ChartQuery.Range: String] = [.threeHours: "3 hours", .day: "24 hours", .week: "7 days"]
        // A range that has nothing more than the one before it would be the same picture.
        var shorter: Int64 = 0
        for range in ChartQuery.Range.allCases where (points.first?.time ?? now) < now - shorter {
            ranges += link(ages[range]!, "range-\(range.rawValue)", query.range == range) { query in
                (query.from, query.to, query.range) = (nil, nil, range)
            }
            shorter = range.milliseconds
        }
        if query.from != nil || query.to != nil || query.range != nil {
            zoom += link("Zoom out", "zoom-out", false, window(chart.from - span / 2, chart.to + span / 2))
            zoom += link("Earlier", "earlier", false, window(chart.from - span / 2, chart.to - span / 2))
            zoom += link("Later", "later", false, window(chart.from + span / 2, chart.to + span / 2))
        }
        ranges += link("All", "zoom-all", query.from == nil && query.to == nil && query.range == nil) { query in
            (query.from, query.to, query.range) = (nil, nil, nil)
        }
        return """
            <div class="controls">
            <nav class="order" aria-label="Kind of chart">
            \(styles)</nav>
            <nav class="order" aria-label="Period">
            \(ranges)</nav>
            <nav class="zoom" aria-label="Time shown">
            \(zoom)</nav>
            </div>

            """
    }

    private func comparison(_ query: ChartQuery, _ missing: [UInt8], _ snapshot: StoreSnapshot) -> Markup {
        var names: Markup = ""
        for city in snapshot.cities.prefix(200) { names += "<option value=\"\(snapshot.name(of: city))\">" }
        var kept: Markup = ""
        if query.style != .line { kept += "<input type=\"hidden\" name=\"chart\" value=\"\(query.style.rawValue)\">" }
        if let range = query.range { kept += "<input type=\"hidden\" name=\"range\" value=\"\(range.rawValue)\">" }
        return """
            <form class="compare">
            <label for="compare">Compare with</label>
            <input id="compare" name="compare" value="\((query.other + missing)[...])" maxlength="\(CityName.maximumCount)" \
            list="names" autocomplete="off" spellcheck="false"><datalist id="names">\(names)</datalist>\(kept)
            <button>Compare</button>
            </form>

            """
    }

    // MARK: Below the chart

    /// How the index differs from a time before: from the point nearest to it, if one is near enough.
    private func change(_ points: [HistoryPoint], since age: Int64, _ now: Timestamp) -> Int? {
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
        func at(_ point: HistoryPoint) -> Markup {
            """
            at <span class="clock" data-ms="\(point.time)" data-pattern="\(chart.pattern.rawValue)">\
            \(chart.clock(point.time))</span>
            """
        }
        return """
            <h2>In this period</h2>
            <dl class="statistics">
            \(item("Lowest", "\(Int(lowest.index))", at(lowest)))\
            \(item("Average", "\(Int(average))", "of \(chart.points.count) points"))\
            \(item("Highest", "\(Int(highest.index))", at(highest)))</dl>

            """
    }

    private func table(_ chart: Chart, _ query: ChartQuery) -> Markup {
        let compared = !query.other.isEmpty
        var rows: Markup = ""
        for point in chart.points.reversed() {
            let other: Markup = chart.other(at: point.time).map { "\(Int($0.index))" } ?? ""
            rows += """
                <tr><td><span class="clock" data-ms="\(point.time)" data-pattern="\(chart.pattern.rawValue)">\
                \(chart.clock(point.time))</span></td><td class="number">\(Int(point.index))</td>\
                <td><span class="word c\(point.category)">\(chart.name(of: point.category))</span></td>\
                \(compared ? "<td class=\"number\">\(other)</td>" as Markup : "")</tr>

                """
        }
        let other: Markup = compared ? "<th scope=\"col\" class=\"number\"><bdi>\(query.other[...])</bdi></th>" : ""
        return """
            <details class="points" id="points">
            <summary>Show data table</summary>
            <table>
            <thead><tr><th scope="col">Time</th><th scope="col" class="number">\(scale.title)</th><th scope="col">Category</th>\(other)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </details>

            """
    }

    /// The index and the concentration of each pollutant of which one is known, the greatest index first.
    private func pollutants(_ extras: CityExtras) -> Markup {
        func index(_ pollutant: Int) -> Double { extras.subIndices?[pollutant] ?? -1 }
        let known = PollutantValues.pollutants.indices.filter { index($0) >= 0 || extras.concentrations?[$0] != nil }
        guard !known.isEmpty else { return "" }
        var tiles: Markup = ""
        for pollutant in known.sorted(by: { (index($0), $1) > (index($1), $0) }) {
            let concentration: Markup =
                extras.concentrations?[pollutant].map { "<small>\(amount: $0) µg/m³</small>" } ?? ""
            var number: Markup = ""
            if let index = extras.subIndices?[pollutant] {
                let category = scale.category(of: index, held: nil, hysteresis: 0)
                number = "<b class=\"index c\(category)\">\(Int(index))</b> "
            }
            tiles += "<div><dt>\(Pollutant.allCases[pollutant].title)</dt><dd>\(number)\(concentration)</dd></div>\n"
        }
        return """
            <h2>By pollutant\(extras.subIndices?.greatest == nil ? "" : " (\(scale.title))")</h2>
            <dl class="statistics pollutants">
            \(tiles)</dl>

            """
    }

    private func links(_ name: ArraySlice<UInt8>) -> Markup {
        var links: Markup = "<nav class=\"links\" aria-label=\"Elsewhere\">\n"
        if let grafana = grafanaURL {
            links += "<a href=\"\(grafana)/d/aqi-city?var-city=\(percent: name)\">This city in Grafana</a>\n"
        }
        links += "<a href=\"../history.json?city=\(percent: name)\">Download JSON</a>\n</nav>\n"
        return links
    }
}
