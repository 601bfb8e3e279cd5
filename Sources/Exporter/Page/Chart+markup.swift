import AirQuality

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
            \(bars, if: style == .bars)<svg viewBox="0 0 9999 9999" preserveAspectRatio="none">\
            \(polylines(runs, class: "line"), if: style == .line)\
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
        Markup(each: bands) { category, top, bottom in
            """
            <rect class="band c\(category.number)" y="\(percent: top)" width="100%" height="\(percent: bottom - top)"/>

            """
        }
    }

    /// Beside the drawing, where nothing hides them.
    private var bandNames: Markup {
        Markup(each: bands.filter { $0.bottom - $0.top > 0.05 }) { category, top, bottom in
            """
            <foreignObject class="band-name" y="\(percent: top)" width="100%" height="\(percent: bottom - top)">\
            <p xmlns="http://www.w3.org/1999/xhtml">\(category.name)</p></foreignObject>

            """
        }
    }

    private var gapRectangles: Markup {
        let gaps = gaps.filter { $0.to > from && $0.from < to }
        let hatch: Markup = """
            <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
            <path d="M0 0h4v8h-4z"/></pattern>
            """
        return Markup(each: gaps) { gap in
            let (start, end) = (max(0, x(gap.from)), min(1, x(gap.to)))
            // Where there is room for it, on a phone less often.
            let text: Markup = """
                <text\(" class=\"odd\"", if: end - start < 0.3) x="\(percent: (start + end) / 2)" y="50%" \
                text-anchor="middle">No data</text>
                """
            return """
                \(hatch, if: gap == gaps[0])\
                <rect class="gap" x="\(percent: start)" width="\(percent: end - start)" height="100%"/>\
                \(text, if: end - start > 0.12)
                """
        }
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

    /// In a drawing of their own that is stretched, since a polyline knows no percent; one for each run.
    private func polylines(_ runs: [[HistoryPoint]], class name: Markup) -> Markup {
        Markup(each: runs.filter { $0.count > 1 }) { run in
            let points = Markup(each: run) { "\(Int(x($0.time) * 9999)),\(Int(y($0.index) * 9999)) " }
            return "<polyline class=\"\(name)\" points=\"\(points)\"/>"
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

    private func circles(areHidden: Bool, alone: [Timestamp], _ name: ArraySlice<UInt8>) -> Markup {
        // So many would hide each other and the line; they are still there for the pointer to find. One without a line
        // to it is seen all the same.
        let isSmall = areHidden || points.count > 120
        var previous: HistoryPoint?
        let circles = Markup(each: points) { point in
            let isSmall = isSmall && (areHidden || !alone.contains(point.time))
            let compared: Markup = other(at: point.time).map { "; \(name) \(Int($0.index))" } ?? ""
            let change: Markup = previous.map { ", \(signed: Int(point.index) - Int($0.index))" } ?? ""
            previous = point
            return """
                <circle class="point\(" small", if: isSmall) c\(point.category)" cx="\(percent: x(point.time))" \
                cy="\(percent: y(point.index))" \
                r="4.5" data-ms="\(point.time)" data-aqi="\(decimals: point.index)" data-category="\(point.category)" \
                data-pattern="\(pattern.rawValue)">\
                <title>\(clock(point.time)) \(scale.title) \(Int(point.index)) \(scale.category(point.category).name)\(change)\(compared)</title></circle>

                """
        }
        return "\n\(circles)"
    }
}
