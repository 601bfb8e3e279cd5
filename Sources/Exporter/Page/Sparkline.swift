import AirQuality

/// A city's points as a small line over an area; empty below three points, because the first two are kept at once.
func sparkline(_ points: [HistoryPoint], scale: Scale) -> Markup {
    guard let first = points.first, let last = points.last, points.count > 2 else { return "" }
    let top = scale.top(over: points)
    let span = Double(max(1, last.time - first.time))
    func y(_ point: HistoryPoint) -> Int { Int(((top - point.aqi) / top * 300).rounded()) }
    // More points would be too fine to see.
    let line = Markup(each: thinned(points, to: 60)) { point in
        "\(Int((Double(point.time - first.time) / span * 1000).rounded())),\(y(point)) "
    }
    // The end is a zero-length line with round caps, because the drawing is stretched and a circle would be too.
    let end: Markup = "M1000 \(y(last))h0"
    return """
        <svg class="spark" viewBox="-20 -20 1040 340" preserveAspectRatio="none" aria-hidden="true">\
        <polygon points="0,300 \(line)1000,300"/><polyline points="\(line)"/>\
        <path class="rim" d="\(end)"/><path class="end" d="\(end)"/></svg>
        """
}
