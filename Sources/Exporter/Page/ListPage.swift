import AirQuality
import Bytes

// The page `/`: all cities.

extension Page {
    /// The list of cities as a document in UTF-8.
    public func list(_ query: ListQuery) -> [UInt8] {
        let selection = CitySelection(snapshot, query: query)
        var content: Markup = "<main id=\"content\">\n<h1 class=\"hidden\">Air quality of the cities</h1>\n"
        if snapshot.cityCount > 0 {
            content += summary(selection, query)
            content += query.isKiosk ? wallNews(selection) : tools(query)
        }
        if selection.cities.isEmpty {
            content += empty(query)
        } else {
            let first = (selection.page - 1) * CitySelection.pageSize + 1
            content += """
                <ol class="cities\(query.isKiosk ? wallGrid(selection) : "")" id="cities" start="\(first)">
                \(Markup(each: selection.cities) { card($0, isKiosk: query.isKiosk) })</ol>

                """
        }
        content += "\(pager(selection, query))</main>\n"
        return render(
            content, title: "Air quality", root: "./", skipTo: "cities", isKiosk: query.isKiosk,
            newest: selection.newest)
    }

    // MARK: Above the list

    /// How many cities there are of each category; each is a filter.
    private func summary(_ selection: CitySelection, _ query: ListQuery) -> Markup {
        let all = selection.counts[0]
        var start = 0.0
        let bar = Markup(each: scale.categories) { category in
            let share = all == 0 ? 0 : Double(selection.counts[Int(category.number)]) / Double(all)
            defer { start += share }
            guard share > 0 else { return "" }
            return """
                <rect class="c\(category.number)" x="\(percent: start)" width="\(percent: share)" height="100%"/>
                """
        }
        let chips = Markup(each: scale.categories) { category in
            """
            <li><a class="c\(category.number)" href="\(query.link { $0.category = category.number })"\
            \(Self.current, if: query.category == category.number) data-category="\(category.number)">\
            \(disc(category)) <b>\(selection.counts[Int(category.number)])</b> <span>\(category.name)</span></a></li>

            """
        }
        return """
            <section class="summary" aria-label="Cities by category">
            <svg class="share" aria-hidden="true">\(bar)</svg>
            <ul>
            <li><a href="\(query.link { $0.category = nil })"\(Self.current, if: query.category == nil)>\
            <b>\(all)</b> <span>\(all == 1 ? "city" : "cities")</span></a></li>
            \(chips)</ul>
            </section>

            """
    }

    private func tools(_ query: ListQuery) -> Markup {
        let orders = Markup(each: ListQuery.Sort.allCases) { sort in
            link(sort.title, to: query.link { $0.sort = sort }, isCurrent: query.sort == sort)
        }
        func hidden(_ name: String, _ value: String) -> Markup {
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        return """
            <div class="tools">
            <form role="search" action="./">
            <label class="hidden" for="search">Search for a city</label>
            <input type="search" id="search" name="search" value="\(query.search[...])" maxlength="\(CityName.maximumCount)" \
            placeholder="Search for a city" autocomplete="off" spellcheck="false">\
            \(hidden("sort", query.sort.rawValue), if: query.sort != .index)\
            \(hidden("category", "\(query.category ?? 0)"), if: query.category != nil)
            <button>Search</button>
            </form>
            <nav class="order" aria-label="Order">
            \(orders)</nav>
            </div>

            """
    }

    private func empty(_ query: ListQuery) -> Markup {
        guard snapshot.cityCount > 0 else { return "<p class=\"empty\" id=\"cities\">No data yet.</p>\n" }
        let all = query.link {
            $0.category = nil
            $0.search = []
        }
        return "<p class=\"empty\" id=\"cities\">No matching city. <a href=\"\(all)\">Show all cities</a></p>\n"
    }

    // MARK: The list

    private func card(_ city: Int, isKiosk: Bool) -> Markup {
        let state = snapshot.states[city]
        let name = snapshot.name(of: city)
        let category = scale.category(state.category)
        // Too small to be read from afar, as is the cause; and there, longer names than all others get two lines.
        let details: Markup =
            isKiosk
            ? ""
            : """
            \(change(state.changes))
            \(Sparkline(snapshot.points(of: city), scale: scale).markup)
            <span class="updated">updated \(ago(state.updatedAt))</span>

            """
        let isLong = isKiosk && letters(in: name) > 24
        return """
            <li class="city c\(category.number)\(" long", if: isLong)" data-city="\(name)" data-category="\(category.number)">
            \(disc(category))
            <a class="name" href="city/\(Self.pathStep(name))\("?kiosk", if: isKiosk)"><bdi>\(name)</bdi></a>
            <span class="state"><span class="word">\(category.name)</span> \(cause(city), if: !isKiosk)</span>
            <span class="hidden">\(scale.title)</span>\(index(state.index))
            \(details)</li>

            """
    }

    private func pager(_ selection: CitySelection, _ query: ListQuery) -> Markup {
        guard selection.pageCount > 1 else { return "" }
        let page = selection.page
        let last = selection.pageCount
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

    // MARK: On a wall

    /// The last change, and how many cities are left out.
    private func wallNews(_ selection: CitySelection) -> Markup {
        var news: Markup = ""
        if let city = selection.lastChanged {
            let state = snapshot.states[city]
            news += """
                <p class="last-change"><b><bdi>\(snapshot.name(of: city))</bdi></b> is now \
                \(scale.category(state.category).name) \(change(state.changes))</p>

                """
        }
        let rest = selection.count - selection.cities.count
        if rest > 0 { news += "<p class=\"left-out\">\(rest) more \(rest == 1 ? "city" : "cities") not shown</p>\n" }
        return "<div class=\"news\">\n\(news)</div>\n"
    }

    /// Classes that give the cards of a wall display their columns, by how many there are, and their letters, by the
    /// longest name, so that all fit the screen and no word is broken.
    private func wallGrid(_ selection: CitySelection) -> Markup {
        // Cards are more than twice as wide as high, as their words are.
        let room = selection.cities.count * 7 / 10
        let columns = (1...10).first { $0 * ($0 + 1) >= room } ?? 10
        let longest = selection.cities.reduce(0) { max($0, letters(in: snapshot.name(of: $1))) }
        let width = [8, 11, 14, 16, 18, 20].first { $0 >= longest } ?? 24
        return " w-\(columns) l-\(width)"
    }

    private func letters(in name: ArraySlice<UInt8>) -> Int { name.count { $0 & 0xC0 != 0x80 } }
}
