// The page `/`: all cities as a list.

extension PageSettings {
    /// - Parameter outage: nil while a feed is fresh, or paused on purpose.
    public func list(_ snapshot: StoreSnapshot, query: ListQuery, outage: Outage?, at now: Timestamp) -> [UInt8] {
        let selection = CitySelection(snapshot, query: query)
        let frame = PageFrame(
            settings: self, root: "./", title: "Air quality", isKiosk: query.isKiosk, now: now, outage: outage,
            snapshot: snapshot, newestReading: selection.newest)
        var content: Markup = "<main id=\"content\">\n<h1 class=\"hidden\">Air quality of the cities</h1>\n"
        if snapshot.cityCount > 0 {
            content += summary(selection, query, frame)
            content += query.isKiosk ? lastChange(selection, snapshot, frame) : tools(snapshot, query)
            if let area = selection.area, !query.isKiosk {
                content += CityMap(selection.dots, in: area, snapshot, self).markup
            }
        }
        if selection.cities.isEmpty {
            content += empty(snapshot, query)
        } else {
            let first = (selection.page - 1) * CitySelection.pageSize + 1
            content += """
                <div class="head" aria-hidden="true"><span>City</span><span>Category</span><span>Last change</span>\
                <span>Trend</span><span>\(scale.title)</span><span>Updated</span></div>
                <ol class="cities\(kioskGrid(selection, snapshot, query))" id="cities" start="\(first)" data-sort="\(query.sort.rawValue)" \
                data-alone="\(selection.pageCount == 1 && query.category == nil ? 1 : 0)">

                """
            for city in selection.cities { content += row(city, snapshot, query, frame) }
            content += "</ol>\n"
        }
        content += pager(selection, query)
        content += "</main>\n"
        return frame.render(content, skipTo: "cities")
    }

    // MARK: Above the list

    private func lastChange(_ selection: CitySelection, _ snapshot: StoreSnapshot, _ frame: PageFrame) -> Markup {
        guard let city = selection.lastChanged else { return "" }
        let state = snapshot.state(of: city)
        return """
            <p class="last-change"><b><bdi>\(snapshot.name(of: city))</bdi></b> is now \
            \(scale.categories[Int(state.category) - 1].name) \(frame.change(state.changes))</p>

            """
    }

    /// Classes that give the cards of a wall display their columns, by how many there are, and their letters, by the
    /// longest name, so that all fit the screen and no word is broken.
    private func kioskGrid(_ selection: CitySelection, _ snapshot: StoreSnapshot, _ query: ListQuery) -> Markup {
        guard query.isKiosk else { return "" }
        // Cards are more than twice as wide as high, as their words are.
        let room = selection.cities.count * 7 / 10
        let columns = (1...10).first { $0 * ($0 + 1) >= room } ?? 10
        let longest = selection.cities.reduce(0) { max($0, letters(in: snapshot.name(of: $1))) }
        let width = [8, 11, 14, 16, 18, 20].first { $0 >= longest } ?? 24
        return " w-\(columns) l-\(width)"
    }

    private func letters(in name: ArraySlice<UInt8>) -> Int { name.count { $0 & 0xC0 != 0x80 } }

    /// How many cities there are of each category; each is a filter.
    private func summary(_ selection: CitySelection, _ query: ListQuery, _ frame: PageFrame) -> Markup {
        let all = selection.counts[0]
        var bar: Markup = ""
        var start = 0.0
        var chips: Markup = """
            <li><a href="\(query.link { $0.category = nil })"\(current(query.category == nil))>\
            <b>\(all)</b> <span>\(all == 1 ? "city" : "cities")</span></a></li>

            """
        for category in scale.categories {
            let count = selection.counts[Int(category.number)]
            let share = all == 0 ? 0 : Double(count) / Double(all)
            if count > 0 {
                bar += """
                    <rect class="c\(category.number)" x="\(percent: start)" width="\(percent: share)" height="100%"/>
                    """
            }
            start += share
            chips += """
                <li><a class="c\(category.number)" href="\(query.link { $0.category = category.number })"\
                \(current(query.category == category.number)) data-category="\(category.number)" \
                data-name="\(category.name)">\(frame.disc(category)) \
                <b>\(count)</b> <span>\(category.name)</span></a></li>

                """
        }
        return """
            <section class="summary" aria-label="Cities by category">
            <svg class="share" aria-hidden="true">\(bar)</svg>
            <ul>
            \(chips)</ul>
            </section>

            """
    }

    private func tools(_ snapshot: StoreSnapshot, _ query: ListQuery) -> Markup {
        var hidden: Markup = ""
        if query.sort != .index { hidden += "<input type=\"hidden\" name=\"sort\" value=\"\(query.sort.rawValue)\">" }
        if query.hasMap { hidden += "<input type=\"hidden\" name=\"map\">" }
        if let category = query.category { hidden += "<input type=\"hidden\" name=\"category\" value=\"\(category)\">" }
        var orders: Markup = ""
        for sort in ListQuery.Sort.allCases {
            orders += "<a href=\"\(query.link { $0.sort = sort })\"\(current(query.sort == sort))>\(sort.title)</a>\n"
        }
        let views: Markup =
            snapshot.extras.havePlaces
            ? """
            <nav class="order view" aria-label="View">
            <a href="\(query.link { $0.hasMap = false })"\(current(!query.hasMap))>List</a>
            <a href="\(query.link { $0.hasMap = true })"\(current(query.hasMap))>Map</a>
            </nav>

            """ : ""
        return """
            <div class="tools">
            <form role="search" action="./">
            <label class="hidden" for="search">Search for a city</label>
            <input type="search" id="search" name="search" value="\(query.search[...])" maxlength="\(CityName.maximumCount)" \
            placeholder="Search for a city" autocomplete="off" spellcheck="false">\(hidden)
            <button>Search</button>
            </form>
            \(views)<nav class="order" aria-label="Order">
            \(orders)</nav>
            </div>

            """
    }

    private func current(_ isCurrent: Bool) -> Markup { isCurrent ? " aria-current=\"true\"" : "" }

    private func empty(_ snapshot: StoreSnapshot, _ query: ListQuery) -> Markup {
        guard snapshot.cityCount > 0 else { return "<p class=\"empty\" id=\"cities\">No data yet.</p>\n" }
        let all = query.link { query in
            query.category = nil
            query.search = []
        }
        return "<p class=\"empty\" id=\"cities\">No matching city. <a href=\"\(all)\">Show all cities</a></p>\n"
    }

    // MARK: The list

    private func row(_ city: Int, _ snapshot: StoreSnapshot, _ query: ListQuery, _ frame: PageFrame) -> Markup {
        let state = snapshot.state(of: city)
        let name = snapshot.name(of: city)
        let category = scale.categories[Int(state.category) - 1]
        // Too small to be read from afar; and there, longer names than all others get two lines.
        let cause = query.isKiosk ? "" : frame.cause(city)
        let kind: Markup = query.isKiosk && letters(in: name) > 24 ? " long" : ""
        let details: Markup =
            query.isKiosk
            ? ""
            : """
            \(frame.change(state.changes))
            \(Sparkline(snapshot.points(of: city)).markup)
            <span class="updated">\(frame.ago(state.updatedAt))</span>

            """
        return """
            <li class="city c\(category.number)\(kind)" data-city="\(name)" data-category="\(category.number)" \
            data-aqi="\(decimals: state.index)" data-changed="\(state.changes.changedAt ?? 0)">
            \(frame.disc(category))
            <a class="name" href="city/\(PageFrame.pathStep(name))\(query.isKiosk ? "?kiosk" : "")"><bdi>\(name)</bdi></a>
            <span class="state"><span class="word">\(category.name)</span>\(cause)</span>
            <span class="hidden">\(scale.title)</span>\(frame.index(state.index))
            \(details)</li>

            """
    }

    private func pager(_ selection: CitySelection, _ query: ListQuery) -> Markup {
        guard selection.pageCount > 1 else { return "" }
        let (page, last) = (selection.page, selection.pageCount)
        func step(_ text: String, _ target: Int, rel: String) -> Markup {
            guard target >= 1, target <= last, target != page else {
                return "<span aria-hidden=\"true\">\(text)</span>\n"
            }
            return "<a href=\"\(query.link { $0.page = target })\" rel=\"\(rel)\">\(text)</a>\n"
        }
        return """
            <nav class="pager" aria-label="Pages of the list">
            \(step("First", 1, rel: "first"))\(step("Previous", page - 1, rel: "prev"))\
            <span>Page \(page) of \(last)</span>
            \(step("Next", page + 1, rel: "next"))\(step("Last", last, rel: "last"))</nav>

            """
    }
}

extension ListQuery.Sort {
    fileprivate var title: String {
        switch self {
        case .index: "Worst first"
        case .name: "By name"
        case .changed: "Last change"
        }
    }
}
