extension Chart {
    /// Axes, bands and points. All places are in percent, so that letters and lines keep their size when the drawing
    /// gets another one.
    ///
    /// - Parameter other: the name of the other city, if there is one.
    func markup(_ style: ChartQuery.Style, label: Markup, other: ArraySlice<UInt8>) -> Markup {
        let runs = Self.runs(of: line, between: gaps)
        return """
            <div class="plot">
            <svg class="levels" aria-hidden="true">\(levelTexts)</svg>
            <svg class="area" id="area" role="img" aria-label="\(label)" data-from="\(from)" data-to="\(to)">
            \(bandRectangles)\(gapRectangles)\(levelLines)\(tickLines)\
            \(style == .bars ? bars : "")<svg viewBox="0 0 9999 9999" preserveAspectRatio="none">\
            \(style == .bars ? "" : polylines(runs, class: "line"))\
            \(polylines(Self.runs(of: otherLine, between: otherGaps), class: "line other"))</svg>\
            \(circles(areHidden: style == .bars, alone: runs.filter { $0.count == 1 }.map { $0[0].time }, other))\
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
            let (start, end) = (max(0, x(gap.from)), min(1, x(gap.to)))
            markup += "<rect class=\"gap\" x=\"\(percent: start)\" width=\"\(percent: end - start)\" height=\"100%\"/>"
            // Where there is room for it, on a phone less often.
            guard end - start > 0.12 else { continue }
            markup += """
                <text\(end - start < 0.3 ? " class=\"odd\"" : "" as Markup) x="\(percent: (start + end) / 2)" y="50%" \
                text-anchor="middle">No data</text>
                """
        }
        return markup.bytes.isEmpty
            ? ""
            : """
            <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
            <path d="M0 0h4v8h-4z"/></pattern>\(markup)
            """
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
        var markup: Markup = "<text class=\"unit\" y=\"-10\">\(scale.title)</text>"
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
        var day = AirQuality.clock(from, pattern: .day)
        for (place, tick) in ticks.enumerated() {
            // On a narrow screen every other one is left out.
            let kind = place % 2 == 0 ? "clock" : "clock odd"
            var (text, pattern) = tickClock(tick)
            // With its date where a day begins.
            let today = AirQuality.clock(tick, pattern: .day)
            if pattern == .time, today != day { text = AirQuality.clock(tick, pattern: .date) }
            day = today
            markup += """
                <text class="\(kind)" x="\(percent: x(tick))" y="18" text-anchor="middle" data-ms="\(tick)" \
                data-pattern="\(pattern.rawValue)">\(text)</text>
                """
        }
        return markup
    }

    /// In a drawing of their own that is stretched, since a polyline knows no percent; one for each run.
    private func polylines(_ runs: [[HistoryPoint]], class name: Markup) -> Markup {
        var markup: Markup = ""
        for run in runs where run.count > 1 {
            markup += "<polyline class=\"\(name)\" points=\""
            for point in run { markup += "\(Int(x(point.time) * 9999)),\(Int(y(point.index) * 9999)) " }
            markup += "\"/>"
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

    private func circles(areHidden: Bool, alone: [Timestamp], _ name: ArraySlice<UInt8>) -> Markup {
        // So many would hide each other and the line; they are still there for the pointer to find. One without a line
        // to it is seen all the same.
        let isSmall = areHidden || points.count > 120
        var markup: Markup = "\n"
        var previous: HistoryPoint?
        for point in points {
            let kind = isSmall && (areHidden || !alone.contains(point.time)) ? "point small" : "point"
            let compared: Markup = other(at: point.time).map { "; \(name) \(Int($0.index))" } ?? ""
            let change: Markup = previous.map { ", \(signed: Int(point.index) - Int($0.index))" } ?? ""
            markup += """
                <circle class="\(kind) c\(point.category)" cx="\(percent: x(point.time))" cy="\(percent: y(point.index))" \
                r="4.5" data-ms="\(point.time)" data-aqi="\(decimals: point.index)" data-category="\(point.category)" \
                data-pattern="\(pattern.rawValue)">\
                <title>\(clock(point.time)) \(scale.title) \(Int(point.index)) \(self.name(of: point.category))\(change)\(compared)</title></circle>

                """
            previous = point
        }
        return markup
    }
}
