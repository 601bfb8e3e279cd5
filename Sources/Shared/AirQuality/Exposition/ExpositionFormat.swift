import Bytes
internal import HTTPText

/// The formats that a scrape may be answered in.
public enum ExpositionFormat: String, Sendable, CaseIterable {
    case text004, text100, openMetrics100, openMetrics001, protobuf

    public var contentType: String {
        switch self {
        case .text004: "text/plain; version=0.0.4; charset=utf-8"
        // All names are of the old character set, so they are the same under every escaping.
        case .text100: "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
        case .openMetrics001: "application/openmetrics-text; version=0.0.1; charset=utf-8"
        case .openMetrics100: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .protobuf: "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
        }
    }

    public var isOpenMetrics: Bool { self == .openMetrics001 || self == .openMetrics100 }
}

extension ExpositionFormat {
    /// A whole exposition of one source.
    public func exposition<Source>(_ families: [Family<Source>], of source: Source) -> [UInt8] {
        render(families, of: [source]) { _ in nil } + end
    }

    /// The families that have samples.
    ///
    /// - Parameter label: value of the first label of all samples of a source; nil when there is only one of the kind.
    func render<Source>(
        _ families: [Family<Source>], of sources: [Source], label: (Source) -> LabelValue?
    ) -> [UInt8] {
        let labels = sources.map(label)
        var text: [UInt8] = []
        for family in families {
            var samples: [UInt8] = []
            for (label, source) in zip(labels, sources) { appendSamples(of: family, label, source, to: &samples) }
            if !samples.isEmpty { text += header(of: family.metric, sampleByteCount: samples.count) + samples }
        }
        return text
    }

    /// - Parameter label: value of the first label, if the source has one.
    func appendSamples<Source>(
        of family: Family<Source>, _ label: LabelValue?, _ source: Source, to bytes: inout [UInt8]
    ) {
        family.addSamples(source) { labels, value in
            if self == .protobuf {
                let labels = (label.map { [$0] } ?? []) + labels
                ProtobufExposition.appendSample(of: family.metric, labels: labels, value, to: &bytes)
            } else {
                TextExposition.appendSample(of: family.metric, label, labels, value, to: &bytes)
            }
        }
    }

    /// Text before the samples of a family.
    func header(of family: MetricFamily, sampleByteCount: Int) -> [UInt8] {
        switch self {
        case .text004, .text100: family.header
        case .openMetrics001, .openMetrics100: family.openMetricsHeader
        case .protobuf: ProtobufExposition.header(of: family, sampleByteCount: sampleByteCount)
        }
    }

    /// Text after all families.
    var end: [UInt8] { isOpenMetrics ? Array("# EOF\n".utf8) : [] }
}

/// The text formats: Prometheus text 0.0.4 and 1.0.0, OpenMetrics 0.0.1 and 1.0.0.
///
/// They differ in the lines above the samples and in the last line. The samples are the same bytes in all: our names are
/// of the old character set, and we send neither timestamps nor `_created` series.
enum TextExposition {
    /// - Parameter first: value of the first label, if it is not among `labels`.
    static func appendSample(
        of family: MetricFamily, _ first: LabelValue?, _ labels: [LabelValue], _ value: SampleValue,
        to text: inout [UInt8]
    ) {
        let beforeLabels = family.beforeLabels
        text += beforeLabels[0]
        var count = 0
        if let first {
            text += first.escaped
            count = 1
        }
        for label in labels {
            if count > 0 { text += beforeLabels[count] }
            text += label.escaped
            count += 1
        }
        if count > 0 { text += behindLabels }
        switch value {
        case .number(let number): text.appendNumber(number)
        case .time(let time): text.appendInteger(UInt64(clamping: time), decimals: 3)
        }
        text.append(UInt8(ascii: "\n"))
    }

    private static let behindLabels = Array("\"} ".utf8)

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

/// The protobuf format: `io.prometheus.client.MetricFamily` messages, each behind its length as a varint.
///
/// Only gauges and counters, so the encoding is written out here. Field numbers are those of
/// `io/prometheus/client/metrics.proto`: MetricFamily name 1, help 2, type 3, metric 4; Metric label 1, gauge 2,
/// counter 3; LabelPair name 1, value 2; Gauge and Counter value 1; MetricType COUNTER 0, GAUGE 1.
enum ProtobufExposition {
    /// Beginning of a family's message, before its metrics.
    ///
    /// - Parameter sampleByteCount: of the metrics, because the message's length comes first.
    static func header(of family: MetricFamily, sampleByteCount: Int) -> [UInt8] {
        var fields: [UInt8] = []
        append(1, family.name.utf8, to: &fields)
        append(2, family.help.utf8, to: &fields)
        appendVarint(3 << 3, to: &fields)
        appendVarint(family.kind == .counter ? 0 : 1, to: &fields)
        var header: [UInt8] = []
        appendVarint(UInt64(fields.count + sampleByteCount), to: &header)
        return header + fields
    }

    static func appendSample(
        of family: MetricFamily, labels: [LabelValue], _ value: SampleValue, to bytes: inout [UInt8]
    ) {
        var metric: [UInt8] = []
        for (name, label) in zip(family.labels, labels) {
            var pair: [UInt8] = []
            append(1, name.utf8, to: &pair)
            append(2, label.bytes, to: &pair)
            append(1, pair, to: &metric)
        }
        let double =
            switch value {
            case .number(let number): number
            case .time(let time): Double(time) / 1000
            }
        // A double is eight bytes behind the tag, little endian.
        var number: [UInt8] = [1 << 3 | 1]
        for shift in stride(from: 0, to: 64, by: 8) {
            number.append(UInt8(truncatingIfNeeded: double.bitPattern >> UInt64(shift)))
        }
        append(family.kind == .counter ? 3 : 2, number, to: &metric)
        append(4, metric, to: &bytes)
    }

    /// A length-delimited field.
    private static func append(_ field: UInt64, _ content: some Collection<UInt8>, to bytes: inout [UInt8]) {
        appendVarint(field << 3 | 2, to: &bytes)
        appendVarint(UInt64(content.count), to: &bytes)
        bytes += content
    }

    private static func appendVarint(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// The format that a scraper asked for by its `Accept` header.
public struct AcceptedFormat: Sendable, Equatable {
    public var format: ExpositionFormat
    /// The `escaping` that the scraper named, one of its four values; our names are the same under each.
    public var escaping: String?

    public var contentType: String {
        guard let escaping, format != .protobuf, format != .text100 else { return format.contentType }
        return format.contentType + "; escaping=" + escaping
    }

    /// The supported format with the highest quality; at equal quality the one named first. Text 0.0.4 when there is
    /// none, as Prometheus' content negotiation wants it (never 406).
    ///
    /// The quality of a format is that of the most specific range that covers it (RFC 9110 section 12.5.1). A range
    /// with a quality beyond 0 … 1, which a Prometheus release once sent, is no range.
    ///
    /// - Parameter accept: nil when there is no such header.
    public static func negotiate(_ accept: String?) -> AcceptedFormat {
        let ranges = accept.map(AcceptElement.list) ?? []
        let offers = ExpositionFormat.allCases.compactMap {
            format -> (quality: Int, place: Int, format: ExpositionFormat)? in
            let covering = ranges.indices.filter { ranges[$0].covers(format) }
            // Of equally specific ranges the first.
            guard let place = covering.max(by: { ranges[$0].specificity < ranges[$1].specificity }),
                ranges[place].quality > 0
            else { return nil }
            return (ranges[place].quality, place, format)
        }
        // Of equal ones the first: of OpenMetrics without a version the newest.
        guard let best = offers.max(by: { ($0.quality, -$0.place) < ($1.quality, -$1.place) }) else {
            return AcceptedFormat(format: .text004, escaping: nil)
        }
        return AcceptedFormat(format: best.format, escaping: ranges[best.place].escaping)
    }
}

/// One range of an `Accept` header.
extension AcceptElement {
    private var version: String? { self["version"] }

    /// One of the four that there are.
    fileprivate var escaping: String? {
        let escapings = ["allow-utf-8", "underscores", "dots", "values"]
        return parameters.first { $0.name == "escaping" && escapings.contains($0.value) }?.value
    }

    fileprivate var specificity: Int {
        switch name {
        case "*/*": 0
        case "text/*", "application/*": 1
        default: version == nil ? 2 : 3
        }
    }

    fileprivate func covers(_ format: ExpositionFormat) -> Bool {
        let isText = name == "text/plain" || name == "text/*"
        let isOpenMetrics = name == "application/openmetrics-text" || name == "application/*"
        // Not covered by `*/*`: the client must name text 1.0.0 and protobuf explicitly, the latter with the one
        // message and encoding that we have.
        return switch format {
        case .text004: name == "*/*" || isText && (version == nil || version == "0.0.4")
        case .text100: isText && version == "1.0.0"
        case .openMetrics001: name == "*/*" || isOpenMetrics && (version == nil || version == "0.0.1")
        case .openMetrics100: name == "*/*" || isOpenMetrics && (version == nil || version == "1.0.0")
        case .protobuf:
            name == "application/vnd.google.protobuf" && self["encoding"] == "delimited"
                && self["proto"] == "io.prometheus.client.MetricFamily"
        }
    }
}
