import Bytes

/// The text formats: Prometheus text 0.0.4 and 1.0.0, OpenMetrics 0.0.1 and 1.0.0.
///
/// They differ in the lines above the samples and in the last line. The samples are the same bytes in all: our names are
/// of the old character set, and we send neither timestamps nor `_created` series.
enum TextExposition {
    /// What is the same in the text of a family whatever its samples are.
    struct Family: Sendable, Equatable {
        /// The lines above the samples.
        let header: [UInt8]
        let openMetricsHeader: [UInt8]
        /// What stands before the value of each label; in a family without labels, before the value of the sample.
        fileprivate let beforeLabels: [[UInt8]]

        init(_ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String) {
            header = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
            // OpenMetrics names the family of a counter without `_total` and wants the type first.
            let short = kind == .counter ? String(name.dropLast("_total".count)) : name
            openMetricsHeader = Array("# TYPE \(short) \(kind.rawValue)\n# HELP \(short) \(help)\n".utf8)
            guard let first = labels.first else {
                beforeLabels = [Array("\(name) ".utf8)]
                return
            }
            beforeLabels = [Array("\(name){\(first)=\"".utf8)] + labels.dropFirst().map { Array("\",\($0)=\"".utf8) }
        }
    }

    /// - Parameter subject: value of the first label, if it is not among `labels`.
    static func appendSample(
        of family: Family, _ subject: LabelValue?, _ labels: [LabelValue], _ value: SampleValue, to text: inout [UInt8]
    ) {
        var count = 0
        if let subject {
            text += family.beforeLabels[0]
            text += subject.escaped
            count = 1
        }
        for label in labels {
            text += family.beforeLabels[count]
            text += label.escaped
            count += 1
        }
        text += count == 0 ? family.beforeLabels[0] : endOfLabels
        append(value, to: &text)
    }

    private static let endOfLabels = Array("\"} ".utf8)

    /// What is the same in one of the samples of each city.
    struct CitySample: Sendable {
        fileprivate let beforeCity: [UInt8]
        fileprivate let afterCity: [UInt8]

        /// - Parameter label: value of the family's second label, if it has one.
        init(_ family: MetricFamily, label: LabelValue?) {
            beforeCity = family.text.beforeLabels[0]
            afterCity = (label.map { family.text.beforeLabels[1] + $0.escaped } ?? []) + endOfLabels
        }
    }

    /// - Parameter city: its name, escaped.
    static func appendSamples(
        of family: CityFamily, city: [UInt8], _ figures: CityFigures, to text: inout [UInt8]
    ) {
        for sample in family.samples {
            guard let value = sample.value(figures) else { continue }
            text += sample.text.beforeCity
            text += city
            if sample.hasPlace, let place = figures.extras.place {
                text += place.text
            } else {
                text += sample.text.afterCity
            }
            append(value, to: &text)
        }
    }

    private static func append(_ value: SampleValue, to text: inout [UInt8]) {
        text.append(addingCapacity: OutputSpan<UInt8>.maximumNumberCount + 1) { text in
            switch value {
            case .number(let number): text.append(number)
            case .time(let time): text.append(UInt64(clamping: time), decimals: 3)
            }
            text.append(UInt8(ascii: "\n"))
        }
    }

    /// A label value: backslash, quote and line feed are escaped. Nil when there are none of them.
    static func escaped(_ label: Span<UInt8>) -> [UInt8]? {
        guard label.indices.contains(where: { isEscaped(label[$0]) }) else { return nil }
        var text: [UInt8] = []
        for index in label.indices {
            if isEscaped(label[index]) { text.append(UInt8(ascii: "\\")) }
            text.append(label[index] == UInt8(ascii: "\n") ? UInt8(ascii: "n") : label[index])
        }
        return text
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
    }
}
