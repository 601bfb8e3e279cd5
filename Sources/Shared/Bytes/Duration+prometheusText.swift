extension Duration {
    /// Whole milliseconds of a nonnegative duration; `Int64.max` if they do not fit.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLarge ? .max : product + attoseconds / 1_000_000_000_000_000
    }

    /// The duration in Prometheus's notation, for example `1m30s`, truncated to milliseconds.
    public var prometheusText: String {
        var rest = milliseconds
        guard rest > 0 else { return rest == 0 ? "0s" : "-" + (Duration.zero - self).prometheusText }
        var text = ""
        for unit in durationUnits where unit.isWritten(for: rest) {
            let count = rest / unit.milliseconds
            guard count > 0 else { continue }
            text += "\(count)\(unit.name)"
            rest -= count * unit.milliseconds
        }
        return text
    }

    /// Parses a duration in Prometheus's notation: `500ms`, `30s`, `1m30s`, `1y2w3d`, or a bare `0`.
    ///
    /// The grammar is that of `ParseDuration` in prometheus/common: whole numbers, each unit at most once, from the
    /// longest to the shortest; a year has 365 days.
    ///
    /// - Returns: `nil` for other text, and for more than 2⁶³ − 1 nanoseconds (292 years).
    public init?(prometheusText text: String) {
        if text == "0" {
            self = .zero
            return
        }
        var rest = text.utf8[...]
        var total: Int64 = 0
        for unit in durationUnits {
            let digits = rest.prefix(while: isDigit)
            let name = rest[digits.endIndex...].prefix { !isDigit($0) }
            guard name.elementsEqual(unit.name.utf8), let count: Int64 = decimalNumber(digits) else { continue }
            guard count <= (Int64.max / 1_000_000 - total) / unit.milliseconds else { return nil }
            total += count * unit.milliseconds
            rest = rest[name.endIndex...]
        }
        guard rest.isEmpty, !text.isEmpty else { return nil }
        self = .milliseconds(total)
    }
}

private struct DurationUnit {
    var name: String
    var milliseconds: Int64

    /// Years and weeks only if nothing remains, as Prometheus does: `90d` is easier to read than `12w6d`.
    func isWritten(for rest: Int64) -> Bool { (name != "y" && name != "w") || rest % milliseconds == 0 }
}

private let durationUnits = [
    DurationUnit(name: "y", milliseconds: 31_536_000_000),
    DurationUnit(name: "w", milliseconds: 604_800_000),
    DurationUnit(name: "d", milliseconds: 86_400_000),
    DurationUnit(name: "h", milliseconds: 3_600_000),
    DurationUnit(name: "m", milliseconds: 60_000),
    DurationUnit(name: "s", milliseconds: 1000),
    DurationUnit(name: "ms", milliseconds: 1),
]
