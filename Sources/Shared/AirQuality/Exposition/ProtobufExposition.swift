import Bytes

/// The protobuf format: `io.prometheus.client.MetricFamily` messages, each behind its length as a varint.
///
/// Only gauges and counters, so the encoding is written out here. Field numbers are those of
/// `io/prometheus/client/metrics.proto`: MetricFamily name 1, help 2, type 3, metric 4; Metric label 1, gauge 2,
/// counter 3; LabelPair name 1, value 2; Gauge and Counter value 1; MetricType COUNTER 0, GAUGE 1.
enum ProtobufExposition {
    /// What a family's message begins with, before its metrics.
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

    /// - Parameter city: its name.
    static func appendSamples(
        of family: CityFamily, city: LabelValue, _ figures: CityFigures, to bytes: inout [UInt8]
    ) {
        for sample in family.samples {
            guard let value = sample.value(figures) else { continue }
            appendSample(of: family.family, labels: [city] + sample.labels(of: figures), value, to: &bytes)
        }
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
