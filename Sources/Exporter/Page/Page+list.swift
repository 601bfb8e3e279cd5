import AirQuality
public import HTTPText

extension Page {
    /// Renders the list of cities as a UTF-8 document, for a form-encoded query string without `?`.
    public func list(_ query: String) throws(QueryError) -> [UInt8] {
        let query = try ListQuery(query)
        let selection = CitySelection(snapshot, query: query)
        let cards = Markup(each: selection.cities) { card($0, isKiosk: query.isKiosk) }
        let list: Markup = """
            \(summary(selection, query))\(tools(query))<p class="hidden" role="status">Cities shown: \(selection.count)</p>
            <ol class="cities">
            \(cards)</ol>
            \(pager(selection, query))
            """
        let isEmpty = selection.count == 0 && snapshot.cityCount > 0
        let content: Markup = """
            <main id="content">
            <h1 class="hidden">Air quality by city</h1>
            \(wall(selection, query, cards), if: query.isKiosk)\(list, if: !query.isKiosk && snapshot.cityCount > 0)\
            \("<p class=\"empty\">No matching city. <a href=\"?\">Show all cities</a></p>\n", if: isEmpty)</main>

            """
        let worst = snapshot.states.max { $0.aqi < $1.aqi }
        return render(
            content, title: title(worst), root: "./", isKiosk: query.isKiosk,
            refresh: turn(selection, query).map { "15; url=\($0)" } ?? "10")
    }

    // MARK: Above the list

    /// The number of cities per category; each is a link that filters.
    private func summary(_ selection: CitySelection, _ query: ListQuery) -> Markup {
        let all = selection.counts[0]
        let chips = Markup(each: scale.categories) { category in
            """
            <li><a class="c\(category.number)" href="\(query.link { $0.category = category.number })"\
            \(Self.current, if: query.category == category.number) data-category="\(category.number)">\
            \(disc(category)) <b>\(selection.counts[Int(category.number)])</b> <span>\(category.name)</span></a></li>

            """
        }
        return """
            <ul class="summary" aria-label="Cities by category">
            <li><a href="\(query.link { $0.category = nil })"\(Self.current, if: query.category == nil)>\
            <b>\(all)</b> <span>\(all == 1 ? "city" : "cities")</span></a></li>
            \(chips)</ul>

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
            <input type="search" id="search" name="search" value="\(query.search)" maxlength="\(CityName.maximumCount)" \
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

    // MARK: The list

    private func card(_ city: Int, isKiosk: Bool) -> Markup {
        let state = snapshot.states[city]
        let name = state.name[...]
        let category = scale.category(state.category)
        let isOverdue = snapshot.isOverdue(city, at: now)
        let updated = updated(state, isOverdue: isOverdue)
        // Wall displays omit details and cause, which would be too small to read from a distance.
        let details: Markup = """
            \(change(state.changes))
            \(sparkline(snapshot.points(of: city), scale: scale))
            \(updated)
            <div class="sport"><span>Sport: \(category.sportAdvice)</span></div>

            """
        let link: Markup = "<a class=\"name\" href=\"city/\(Self.pathStep(name))\"><bdi>\(name)</bdi></a>"
        let title: Markup = "<span class=\"title\">\(link) \(country(state))</span>"
        let age = isOverdue ? updated : change(state.changes)
        // Chinese and similar characters, from U+2E80 on, are about twice as wide as others.
        let length = String(decoding: name, as: UTF8.self).reduce(0.0) { length, character in
            length + (character >= "\u{2E80}" ? 2 : character.isUppercase ? 1.4 : 1)
        }
        return """
            <li class="city c\(category.number)\(" overdue", if: isOverdue)\(" long", if: length > 20)\(" longer", if: length > 30)\(" longest", if: length > 38)\(" wordy", if: category.name.count > 20)" \
            data-city="\(name)" data-category="\(category.number)">
            \(disc(category))
            \(isKiosk ? link : title)
            <span class="state"><span class="word">\(category.name)</span> \(isKiosk ? age : cause(city))</span>
            <span class="hidden">\(scale.title)</span><b class="index">\(Int(state.aqi))</b>
            \(details, if: !isKiosk)</li>

            """
    }

    private static func pathStep(_ name: ArraySlice<UInt8>) -> Markup {
        // "." and ".." denote folders even if percent-encoded, so a space is appended. No name ends with a space.
        let isFolder = name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        return isFolder ? "\(percent: name)%20" : "\(percent: name)"
    }

    private func pager(_ selection: CitySelection, _ query: ListQuery) -> Markup {
        guard selection.pageCount > 1 else { return "" }
        func step(_ text: String, _ page: Int, _ relation: String) -> Markup {
            guard (1...selection.pageCount).contains(page) else { return "" }
            return "<a href=\"\(query.link { $0.page = page })\" rel=\"\(relation)\">\(text)</a>\n"
        }
        return """
            <nav class="pager" aria-label="Pages of the list">
            \(step("Previous", selection.page - 1, "prev"))\
            <span>Page \(selection.page) of \(selection.pageCount)</span>
            \(step("Next", selection.page + 1, "next"))</nav>

            """
    }

    /// The query of the wall's next page, after the last one the first; `nil` if there is only one.
    private func turn(_ selection: CitySelection, _ query: ListQuery) -> Markup? {
        guard query.isKiosk, selection.pageCount > 1 else { return nil }
        return query.link { $0.page = selection.page % selection.pageCount + 1 }
    }

    /// A page of the list as a wall display, with enough columns to fit its cities on the screen.
    private func wall(_ selection: CitySelection, _ query: ListQuery, _ cards: Markup) -> Markup {
        // Cards are more than twice as wide as high, because their text is.
        let room = selection.cities.count * 7 / 10
        let columns = (1...10).first { $0 * ($0 + 1) >= room } ?? 10
        let turn = turn(selection, query)
        return """
            <ol class="cities w-\(columns)"\(turn.map { " data-turn=\"\($0)\"" as Markup } ?? "")>
            \(cards)</ol>
            \("<p class=\"turn\">Page \(selection.page) of \(selection.pageCount)</p>\n", if: turn != nil)
            """
    }
}
