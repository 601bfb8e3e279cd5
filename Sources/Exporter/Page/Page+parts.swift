import AirQuality

extension Page {
    /// The face symbols that `disc` refers to, included once per page.
    static let faces: Markup = {
        let lines = [
            "M8.2 8.6h.01M15.8 8.6h.01M6 13a6 6 0 0 0 12 0z",
            "M8.2 9h.01M15.8 9h.01M7 14.5q5 4.6 10 0",
            "M8.2 9h.01M15.8 9h.01M7.5 15.8h9",
            "M8.2 9h.01M15.8 9h.01M7 17.2q5-4.6 10 0",
            "M6.5 7.5l3.5 2M17.5 7.5l-3.5 2M6.5 16.5l2.2-1.8 2.2 1.8 2.2-1.8 2.2 1.8 2.2-1.8",
            "M6.5 7l3.4 3.4M9.9 7l-3.4 3.4M14.1 7l3.4 3.4M17.5 7l-3.4 3.4M9 16.5a3 2.4 0 1 0 6 0a3 2.4 0 1 0-6 0",
        ]
        let symbols = Markup(each: lines.enumerated()) { place, line in
            "<symbol id=\"face-\(place + 1)\" viewBox=\"-3.4 -3.4 30.8 30.8\"><path d=\"\(line)\"/></symbol>"
        }
        return "<svg class=\"hidden\" aria-hidden=\"true\" width=\"0\" height=\"0\">\(symbols)</svg>"
    }()

    /// A face on the category's colour; the name of the category must stand beside it.
    func disc(_ category: Category) -> Markup {
        "<svg class=\"disc\" aria-hidden=\"true\"><use href=\"#face-\(category.number)\"/></svg>"
    }

    /// A table that scrolls if it is too wide; `number` is the index of the numeric column.
    func table(_ label: String, columns: [String], number: Int? = nil, _ rows: Markup) -> Markup {
        let head = Markup(each: columns.enumerated()) { place, title in
            "<th scope=\"col\"\(" class=\"number\"", if: place == number)>\(title)</th>"
        }
        return """
            <div class="scroll" tabindex="0" role="group" aria-label="\(label)">
            <table>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </div>
            """
    }

    /// A link to another view of the page.
    func link(_ text: String, to query: Markup, isCurrent: Bool = false) -> Markup {
        "<a href=\"\(query)\"\(Self.current, if: isCurrent)>\(text)</a>\n"
    }

    /// The attribute of the link to the current view.
    static let current: Markup = " aria-current=\"true\""

    /// The last category change, with an arrow from the style sheet: up for improved, down for worsened.
    func change(_ changes: CategoryChanges) -> Markup {
        guard let changedAt = changes.changedAt else { return "<span class=\"change\"></span>" }
        let isBetter = changes.direction > 0
        return """
            <span class="change \(isBetter ? "better" : "worse")">\(isBetter ? "Improved" : "Worsened") \
            \(ago(changedAt))</span>
            """
    }

    /// The pollutant with the greatest sub-index, unless the category is the best.
    func cause(_ city: Int) -> Markup {
        let state = snapshot.states[city]
        guard state.category > 1, let pollutant = state.extras?.subIndices?.greatest else { return "" }
        return "<span class=\"cause\">because of \(Pollutant.allCases[pollutant].title)</span>"
    }
}
