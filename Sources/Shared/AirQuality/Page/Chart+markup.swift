extension Chart {
    /// Axes, bands and points. All places are in percent, so that letters and lines keep their size when the drawing
    /// gets another one.
    func markup(_ style: ChartQuery.Style, label: Markup) -> Markup {
        """
        <div class="plot">
        <svg class="levels" aria-hidden="true">\(levelTexts)</svg>
        <svg class="area" id="area" role="img" aria-label="\(label)" data-from="\(from)" data-to="\(to)">
        \(bandRectangles)\(gapRectangles)\(levelLines)\(tickLines)\
        \(style == .bars ? bars : pieces(of: line, class: "line"))\(pieces(of: otherLine, class: "line other"))\
        \(circles(areHidden: style == .bars))\
        <rect class="selection" y="0" height="100%" x="0" width="0"/>\
        <line class="cursor" y1="0" y2="100%"/>
        </svg>
        <svg class="names" aria-hidden="true">\(bandNames)</svg>
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

    /// Beside the drawing, where nothing hides them.
    private var bandNames: Markup {
        var markup: Markup = ""
        for (category, top, bottom) in bands where bottom - top > 0.05 {
            markup += """
                <foreignObject class="band-name" y="\(percent: top)" width="100%" height="\(percent: bottom - top)">\
                <p xmlns="http://www.w3.org/1999/xhtml">\(category.name)</p></foreignObject>

                """
        }
        return markup
    }

    private var gapRectangles: Markup {
        var markup: Markup = ""
        for gap in gaps where gap.to > from && gap.from < to {
            let start = max(0, x(gap.from))
            markup += """
                <rect class="gap" x="\(percent: start)" width="\(percent: min(1, x(gap.to)) - start)" height="100%">\
                <title>no data</title></rect>
                """
        }
        return markup
    }

    private var levelLines: Markup {
        var markup: Markup = ""
        for level in levels {
            markup +=
                "<line class=\"level\" x2=\"100%\" y1=\"\(percent: y(level.index))\" y2=\"\(percent: y(level.index))\"/>"
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
            let (text, pattern) = tickClock(tick)
            markup += """
                <text class="\(kind)" x="\(percent: x(tick))" y="18" text-anchor="middle" data-ms="\(tick)" \
                data-pattern="\(pattern.rawValue)">\(text)</text>
                """
        }
        return markup
    }

    /// A piece from each point to the next, since a polyline knows no percent; none where there is a gap.
    private func pieces(of line: [HistoryPoint], class name: Markup) -> Markup {
        var markup: Markup = ""
        for (one, next) in pieces(of: line) {
            markup += """
                <line class="\(name)" x1="\(percent: x(one.time))" y1="\(percent: y(one.index))" \
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
        var previous: HistoryPoint?
        for point in points {
            let change: Markup = previous.map { ", \(signed: Int(point.index) - Int($0.index))" } ?? ""
            markup += """
                <circle class="\(kind) c\(point.category)" cx="\(percent: x(point.time))" cy="\(percent: y(point.index))" \
                r="4.5" data-ms="\(point.time)" data-aqi="\(decimals: point.index)" data-category="\(point.category)" \
                data-pattern="\(pattern.rawValue)">\
                <title>\(clock(point.time)) \(scale.title) \(Int(point.index)) \(name(of: point.category))\(change)</title></circle>

                """
            previous = point
        }
        return markup
    }
}
