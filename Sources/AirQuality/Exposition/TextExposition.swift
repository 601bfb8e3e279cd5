/// The text formats: Prometheus text 0.0.4 and 1.0.0, OpenMetrics 0.0.1 and 1.0.0.
///
/// They differ in the lines above the samples and in the last line. The samples are the same bytes in all: our names are
/// of the old character set, and we send neither timestamps nor `_created` series.
enum TextExposition {
    /// OpenMetrics names the family of a counter without `_total` and wants the type first.
    static func appendHeader(of family: MetricFamily, isOpenMetrics: Bool, to text: inout [UInt8]) {
        let name = family.name.utf8Span.span
        let isShortened = isOpenMetrics && family.kind == .counter
        func append(_ keyword: String, _ content: String) {
            text.append(keyword)
            text.append(isShortened ? name.extracting(droppingLast: "_total".utf8.count) : name)
            text.append(" ")
            text.append(content)
            text.append("\n")
        }
        if isOpenMetrics { append("# TYPE ", family.kind.rawValue) }
        append("# HELP ", family.help)
        if !isOpenMetrics { append("# TYPE ", family.kind.rawValue) }
    }

    /// What stands before the value of each label; for a family without labels, before the sample's.
    static func textBeforeLabels(of family: MetricFamily) -> [[UInt8]] {
        guard let first = family.labels.first else { return [Array("\(family.name) ".utf8)] }
        let others = family.labels.dropFirst().map { Array("\",\($0)=\"".utf8) }
        return [Array("\(family.name){\(first)=\"".utf8)] + others
    }

    /// - Parameter subject: value of the first label, if it is not among `labels`.
    static func appendSample<Source>(
        of family: SourceFamily<Source>, _ subject: LabelValue?, _ labels: [LabelValue], _ value: SampleValue,
        to text: inout [UInt8]
    ) {
        var count = 0
        if let subject {
            text += family.textBeforeLabels[0]
            text += subject.escaped
            count = 1
        }
        for label in labels {
            text += family.textBeforeLabels[count]
            text += label.escaped
            count += 1
        }
        text += count == 0 ? family.textBeforeLabels[0] : endOfLabels
        switch value {
        case .number(let number): text.appendNumber(number)
        case .time(let time): text.appendSeconds(time)
        }
        text.append(UInt8(ascii: "\n"))
    }

    private static let endOfLabels = Array("\"} ".utf8)

    /// A label value: backslash, quote and line feed are escaped.
    static func escaped(_ label: [UInt8]) -> [UInt8] {
        let isPlain = label.allSatisfy {
            $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\n")
        }
        guard !isPlain else { return label }
        return label.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\\"): Array("\\\\".utf8)
            case UInt8(ascii: "\""): Array("\\\"".utf8)
            case UInt8(ascii: "\n"): Array("\\n".utf8)
            default: [byte]
            }
        }
    }
}
