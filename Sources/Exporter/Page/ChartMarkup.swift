import AirQuality

extension Chart {
    /// Axes, bands and points. All places are in percent, so that letters and lines keep their size when the drawing
    /// gets another one.
    ///
    /// - Parameter label: what the drawing shows, for those who cannot see it.
    func markup(_ style: ChartQuery.Style, label: Markup) -> Markup {
        let lines: Markup = """
            <svg viewBox="0 0 9999 9999" preserveAspectRatio="none">\(polylines)</svg>\n\(circles)
            """
        return """
            <div class="plot">
            <svg class="levels" aria-hidden="true">\(levelTexts)</svg>
            <svg class="area" id="area" role="img" aria-label="\(label)" data-from="\(from)">
            \(bandRectangles)\(gapRectangles)\(levelLines)\(tickLines)\
            \(bars, if: style == .bars)\(lines, if: style == .line)\
            <line class="cursor" y1="0" y2="100%"/><circle class="at" r="7"/>
            </svg>
            <svg class="names" aria-hidden="true">\(bandNames)</svg>
            <svg class="ticks" aria-hidden="true">\(tickTexts)</svg>
            <output class="tip" hidden></output>
            </div>

            """
    }

    private var bandRectangles: Markup {
        Markup(each: bands) { category, top, bottom in
            """
            <rect class="band c\(category.number)" y="\(percent: top)" width="100%" height="\(percent: bottom - top)"/>

            """
        }
    }

    /// The names of the bands, beside the drawing, where nothing hides them.
    private var bandNames: Markup {
        Markup(each: bands.filter { $0.bottom - $0.top > 0.05 }) { category, top, bottom in
            """
            <foreignObject class="band-name" y="\(percent: top)" width="100%" height="\(percent: bottom - top)">\
            <p xmlns="http://www.w3.org/1999/xhtml">\(category.name)</p></foreignObject>

            """
        }
    }

    private var gapRectangles: Markup {
        let hatch: Markup = """
            <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
            <path d="M0 0h4v8h-4z"/></pattern>
            """
        let rectangles = Markup(each: gaps) { gap in
            let start = max(0, x(gap.from))
            let width = min(1, x(gap.to)) - start
            // Where there is room for it, on a phone less often.
            let text: Markup = """
                <text\(" class=\"odd\"", if: width < 0.3) x="\(percent: start + width / 2)" y="50%" \
                text-anchor="middle">No data</text>
                """
            return """
                <rect class="gap" x="\(percent: start)" width="\(percent: width)" height="100%"/>\
                \(text, if: width > 0.12)
                """
        }
        return "\(hatch, if: !gaps.isEmpty)\(rectangles)"
    }

    private var levelLines: Markup {
        Markup(each: levels) { level in
            "<line class=\"level\" x2=\"100%\" y1=\"\(percent: y(level.index))\" y2=\"\(percent: y(level.index))\"/>"
        }
    }

    private var levelTexts: Markup {
        let numbers = Markup(each: levels) { level in
            """
            <text\(" class=\"bound\"", if: level.isBound) x="100%" dx="-8" y="\(percent: y(level.index))" dy="4" \
            text-anchor="end">\(Int(level.index))</text>
            """
        }
        return "<text class=\"unit\" y=\"-10\">\(scale.title)</text>\(numbers)"
    }

    private var tickLines: Markup {
        Markup(each: ticks) { "<line class=\"tick\" x1=\"\(percent: x($0))\" x2=\"\(percent: x($0))\" y2=\"100%\"/>" }
    }

    private var tickTexts: Markup {
        var day = ClockPattern.day.text(of: from)
        return Markup(each: ticks.enumerated()) { place, tick in
            // Days alone where there are many; a time with its date where a day begins.
            let pattern = to - from > 3 * 86_400_000 ? .day : pattern
            let today = ClockPattern.day.text(of: tick)
            let shown = pattern == .time && today != day ? .date : pattern
            day = today
            // On a narrow screen every other one is left out.
            return """
                <text class="clock\(" odd", if: place % 2 == 1)" x="\(percent: x(tick))" y="18" text-anchor="middle" \
                data-ms="\(tick)" data-pattern="\(pattern.rawValue)">\(shown.text(of: tick))</text>
                """
        }
    }

    /// The runs of the line, in a drawing of their own that is stretched, since a polyline knows no percent.
    private var polylines: Markup {
        Markup(each: runs.filter { $0.count > 1 }) { run in
            let points = Markup(each: run) { "\(Int(x($0.time) * 9999)),\(Int(y($0.index) * 9999)) " }
            return "<polyline class=\"line\" points=\"\(points)\"/>"
        }
    }

    private var bars: Markup {
        let width = 0.6 / Double(max(points.count, 12))
        return Markup(each: points) { point in
            let top = y(point.index)
            return """
                <rect class="bar c\(point.category)" x="\(percent: max(0, x(point.time) - width / 2))" \
                width="\(percent: width)" y="\(percent: top)" height="\(percent: 1 - top)"/>
                """
        }
    }

    /// A circle for each point. More than 120 would hide each other and the line: then only points without a line to
    /// them have one.
    private var circles: Markup {
        let alone = Set(runs.filter { $0.count == 1 }.map { $0[0].time })
        let shown = points.count > 120 ? points.filter { alone.contains($0.time) } : points
        return Markup(each: shown) { point in
            """
            <circle class="point c\(point.category)" cx="\(percent: x(point.time))" cy="\(percent: y(point.index))" r="4.5"/>
            """
        }
    }
}
