internal import Bytes

extension ValueFormat<Duration> {
    /// A duration as Prometheus writes it: `500ms`, `30s`, `1m30s`, `1y2w3d`, or a bare `0`.
    ///
    /// The grammar is that of `ParseDuration` in prometheus/common: whole numbers, each unit at most once, from the
    /// longest to the shortest; a year has 365 days; more than 2⁶³ − 1 nanoseconds (292 years) is refused.
    public static func duration(in range: ClosedRange<Duration> = .zero ... .longest) -> Self {
        var words = ""
        if range.lowerBound > .zero { words += ", at least \(range.lowerBound.prometheusText)" }
        if range.upperBound < .longest { words += ", at most \(range.upperBound.prometheusText)" }
        return Self(expected: "a duration such as 500ms, 30s or 1m30s" + words) { text in
            guard let duration = parseDuration(text), range.contains(duration) else { return nil }
            return duration
        }
    }
}

extension Duration {
    /// The longest that fits 64 bits of nanoseconds.
    public static var longest: Duration { .nanoseconds(Int64.max) }

    /// As Prometheus writes it, for example `1m30s`; what is below a millisecond is cut off.
    public var prometheusText: String {
        let components = components
        var rest = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
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
}

private struct DurationUnit {
    var name: String
    var milliseconds: Int64

    /// Years and weeks only where nothing remains, as Prometheus does: `90d` is easier to read than `12w6d`.
    func isWritten(for rest: Int64) -> Bool {
        name != "y" && name != "w" || rest % milliseconds == 0
    }
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

private func parseDuration(_ text: String) -> Duration? {
    if text == "0" { return .zero }
    var rest = text.utf8[...]
    var units = durationUnits[...]
    var total: Int64 = 0
    while !rest.isEmpty {
        let digits = rest.prefix(while: isDigit)
        let name = rest[digits.endIndex...].prefix { !isDigit($0) }
        guard let count = decimalNumber(digits, as: Int64.self),
            let index = units.firstIndex(where: { $0.name.utf8.elementsEqual(name) })
        else { return nil }
        let (part, isTooLong) = count.multipliedReportingOverflow(by: units[index].milliseconds)
        let (sum, isSumTooLong) = total.addingReportingOverflow(part)
        guard !isTooLong, !isSumTooLong, sum <= Int64.max / 1_000_000 else { return nil }
        total = sum
        rest = rest[name.endIndex...]
        units = units[(index + 1)...]
    }
    return text.isEmpty ? nil : .milliseconds(total)
}
