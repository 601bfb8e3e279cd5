import AirQuality

extension Chart {
    /// Draws axes, bands and points. All positions are percentages, so that text and lines keep their size when the
    /// chart is resized. `label` describes the chart to screen readers.
    func markup(_ style: ChartQuery.Style, label: Markup) -> Markup {
        let lines: Markup = """
            <svg viewBox="0 0 9999 9999" preserveAspectRatio="none">\(polylines)</svg>\n\(circles)
            """
        return """
            <div class="plot">
            <svg class="levels" aria-hidden="true">\(levelTexts)</svg>
            <svg class="area" id="area" role="img" aria-label="\(label)">
            \(bandRectangles)\(grid)\
            \(bars, if: style == .bars)\(lines, if: style == .line || points.count > 120)\
            <line class="cursor" y1="0" y2="100%"/><circle class="at" r="7"/>
            </svg>
            <svg class="names" aria-hidden="true">\(bandNames)</svg>
            <svg class="ticks" aria-hidden="true" data-from="\(from)" data-to="\(to)" data-step="\(tickStep)">\
            \(tickTexts)</svg>
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

    /// Band names, beside the drawing, so that nothing covers them.
    private var bandNames: Markup {
        Markup(each: bands.filter { $0.bottom - $0.top > 0.05 }) { category, top, bottom in
            """
            <foreignObject class="band-name" y="\(percent: top)" width="100%" height="\(percent: bottom - top)">\
            <p xmlns="http://www.w3.org/1999/xhtml">\(category.name)</p></foreignObject>

            """
        }
    }

    private var grid: Markup {
        let rows = Markup(each: levels) { "<line x2=\"100%\" y1=\"\(percent: y($0))\" y2=\"\(percent: y($0))\"/>" }
        let columns = Markup(each: marks) { tick, isSpare in
            "<line class=\"mark\" x1=\"\(percent: x(tick))\" x2=\"\(percent: x(tick))\" y2=\"100%\"\(" hidden", if: isSpare)/>"
        }
        return "<g class=\"grid\">\(rows)\(columns)</g>"
    }

    private var levelTexts: Markup {
        let numbers = Markup(each: levels) { level in
            "<text x=\"100%\" dx=\"-8\" y=\"\(percent: y(level))\" dy=\".3em\" text-anchor=\"end\">\(Int(level))</text>"
        }
        return "<text class=\"unit\" y=\"-1.2em\">\(scale.title)</text>\(numbers)"
    }

    /// The ticks, and a hidden one before them, which may be in view when the script has moved it.
    private var marks: [(tick: Timestamp, isSpare: Bool)] {
        ticks.map { ($0, false) } + ticks.prefix(1).map { ($0 - tickStep, true) }
    }

    private var tickTexts: Markup {
        // Narrow screens hide the others: of long texts, all but the first and the last.
        let step = pattern == .date || pattern == .year ? max(1, ticks.count - 1) : 2
        return Markup(each: marks.enumerated()) { index, mark in
            """
            <text class="\(mark.isSpare ? "spare" : "clock")\(" odd", if: index % step > 0)" x="\(percent: x(mark.tick))" y="1.5em" \
            text-anchor="middle"\(" hidden", if: mark.isSpare) data-ms="\(mark.tick)" \
            data-pattern="\(pattern.rawValue)">\(pattern.text(of: mark.tick))</text>
            """
        }
    }

    /// The runs of the line, in a stretched drawing of their own, because polylines do not support percentages. The
    /// last point is repeated: a zero-length line with round caps draws a single point as a dot.
    private var polylines: Markup {
        Markup(each: runs) { run in
            let points = Markup(each: run + run.suffix(1)) { "\(Int(x($0.time) * 9999)),\(Int(y($0.aqi) * 9999)) " }
            return "<polyline class=\"line\" points=\"\(points)\"/>"
        }
    }

    private var bars: Markup {
        let width = 0.6 / Double(max(points.count, 12))
        return Markup(each: points) { point in
            let top = y(point.aqi)
            return """
                <rect class="bar\(" thin", if: points.count > 120) c\(scale.category(of: point.aqi))" x="\(percent: max(0, x(point.time) - width / 2))" \
                width="\(percent: width)" y="\(percent: top)" height="\(percent: 1 - top)"/>
                """
        }
    }

    /// A circle for each point, unless there are more than 120, which would hide each other and the line.
    private var circles: Markup {
        Markup(each: points.count > 120 ? [] : points) { point in
            """
            <circle class="point c\(scale.category(of: point.aqi))" \
            cx="\(percent: x(point.time))" cy="\(percent: y(point.aqi))" r="4.5"/>
            """
        }
    }
}
