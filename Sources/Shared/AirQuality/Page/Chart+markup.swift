extension Chart {
    /// Axes, bands and points. All places are in percent, so that letters and lines keep their size when the drawing
    /// gets another one.
    func markup(_ style: ChartQuery.Style, city: ArraySlice<UInt8>, label: Markup) -> Markup {
        """
        <div class="plot">
        <svg class="levels" aria-hidden="true">\(levelTexts)</svg>
        <svg class="area" id="area" role="img" aria-label="\(label)" data-from="\(from)" data-to="\(to)">
        \(bandRectangles)\(tickLines)\(style == .bars ? bars : pieces)\(circles(areHidden: style == .bars))\(bandNames)\
        <rect class="selection" y="0" height="100%" x="0" width="0"/>\
        <line class="cursor" y1="0" y2="100%"/>
        </svg>
        <svg class="ticks" aria-hidden="true">\(tickTexts)</svg>
        <output class="tip" hidden></output>
        </div>

        """
    }

    private var bandRectangles: Markup {
        var markup: Markup = ""
        for (category, top, bottom) in bands {
            markup += """
                <rect class="band c\(category.number)" y="\(percent: top)" width="100%" height="\(percent: bottom - top)"/>

                """
        }
        return markup
    }

    /// On top of all else, so that they can be read.
    private var bandNames: Markup {
        var markup: Markup = ""
        for (category, top, _) in bands {
            // On the left, unless the points begin there.
            let isTaken = points.contains { x($0.time) < 0.15 && (top - 0.03...top + 0.08).contains(y($0.index)) }
            let place: Markup = isTaken ? "x=\"100%\" dx=\"-8\" text-anchor=\"end\"" : "x=\"8\""
            markup += "<text class=\"band\" \(place) y=\"\(percent: top)\" dy=\"16\">\(category.name)</text>\n"
        }
        return markup
    }

    private var levelTexts: Markup {
        var markup: Markup = ""
        for level in levels {
            let kind: Markup = level.isBound ? " class=\"bound\"" : ""
            markup += """
                <text\(kind) x="100%" dx="-8" y="\(percent: y(level.index))" dy="4" \
                text-anchor="end">\(Int(level.index))</text>
                """
        }
        return markup
    }

    private var tickLines: Markup {
        var markup: Markup = ""
        for tick in ticks {
            markup += "<line class=\"tick\" x1=\"\(percent: x(tick))\" x2=\"\(percent: x(tick))\" y2=\"100%\"/>"
        }
        return markup
    }

    private var tickTexts: Markup {
        var markup: Markup = ""
        for (place, tick) in ticks.enumerated() {
            // On a narrow screen every other one is left out.
            let kind = place % 2 == 0 ? "clock" : "clock odd"
            markup += """
                <text class="\(kind)" x="\(percent: x(tick))" y="18" text-anchor="middle" data-ms="\(tick)">\(clock(tick))</text>
                """
        }
        return markup
    }

    /// A piece from each point to the next: a polyline knows no percent.
    private var pieces: Markup {
        var markup: Markup = ""
        for (one, next) in zip(line, line.dropFirst()) {
            markup += """
                <line class="line" x1="\(percent: x(one.time))" y1="\(percent: y(one.index))" \
                x2="\(percent: x(next.time))" y2="\(percent: y(next.index))"/>
                """
        }
        return markup
    }

    private var bars: Markup {
        let width = 0.6 / Double(max(points.count, 12))
        var markup: Markup = ""
        for point in points {
            let top = y(point.index)
            markup += """
                <rect class="bar c\(point.category)" x="\(percent: max(0, x(point.time) - width / 2))" \
                width="\(percent: width)" y="\(percent: top)" height="\(percent: 1 - top)"/>
                """
        }
        return markup
    }

    private func circles(areHidden: Bool) -> Markup {
        // So many would hide each other and the line; they are still there for the pointer to find.
        let kind = areHidden || points.count > 120 ? "point small" : "point"
        var markup: Markup = "\n"
        for point in points {
            markup += """
                <circle class="\(kind) c\(point.category)" cx="\(percent: x(point.time))" cy="\(percent: y(point.index))" \
                r="4.5" data-ms="\(point.time)" data-aqi="\(decimals: point.index)" data-category="\(point.category)">\
                <title>\(clock(point.time)) \(decimals: point.index) \(name(of: point.category))</title></circle>

                """
        }
        return markup
    }
}
