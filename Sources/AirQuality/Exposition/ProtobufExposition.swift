/// The protobuf format: `io.prometheus.client.MetricFamily` messages, each behind its length as a varint.
///
/// Only gauges and counters, so the encoding is written out here. Field numbers are those of
/// `io/prometheus/client/metrics.proto`: MetricFamily name 1, help 2, type 3, metric 4; Metric label 1, gauge 2,
/// counter 3; LabelPair name 1, value 2; Gauge and Counter value 1; MetricType COUNTER 0, GAUGE 1.
enum ProtobufExposition {
    static func append(_ families: [FamilySamples], to bytes: inout [UInt8]) {
        for family in families where !family.samples.isEmpty {
            var metrics: [UInt8] = []
            for sample in family.samples {
                appendMetric(family.family, labels: sample.labels.map { Array($0.utf8) }, sample.value, to: &metrics)
            }
            appendFamily(family.family, metrics: metrics, to: &bytes)
        }
    }

    /// A family of one label, which is the city.
    static func append(
        _ family: MetricFamily, _ snapshot: StoreSnapshot, to bytes: inout [UInt8],
        samples: (_ city: Int, _ append: (_ labels: [[UInt8]], _ value: Double) -> Void) -> Void
    ) {
        var metrics: [UInt8] = []
        for page in snapshot.order.sequence {
            for number in snapshot.order.pages[Int(page)].cities {
                let city = Int(number)
                let name = Array(snapshot.names.bytes[snapshot.states[city].nameRange])
                samples(city) { labels, value in
                    appendMetric(family, labels: [name] + labels, value, to: &metrics)
                }
            }
        }
        if !metrics.isEmpty { appendFamily(family, metrics: metrics, to: &bytes) }
    }

    private static func appendFamily(_ family: MetricFamily, metrics: [UInt8], to bytes: inout [UInt8]) {
        var message: [UInt8] = []
        message.reserveCapacity(metrics.count + 256)
        appendBytes(1, Array(family.name.utf8), to: &message)
        appendBytes(2, Array(family.help.utf8), to: &message)
        appendVarint(3 << 3, to: &message)
        appendVarint(family.kind == .counter ? 0 : 1, to: &message)
        message += metrics
        appendVarint(UInt64(message.count), to: &bytes)
        bytes += message
    }

    private static func appendMetric(
        _ family: MetricFamily, labels: [[UInt8]], _ value: Double, to bytes: inout [UInt8]
    ) {
        var metric: [UInt8] = []
        for (name, label) in zip(family.labels, labels) {
            var pair: [UInt8] = []
            appendBytes(1, Array(name.utf8), to: &pair)
            appendBytes(2, label, to: &pair)
            appendBytes(1, pair, to: &metric)
        }
        // A double is eight bytes behind the tag, little endian.
        var number: [UInt8] = [1 << 3 | 1]
        withEachByte(of: value.bitPattern) { number.append($0) }
        appendBytes(family.kind == .counter ? 3 : 2, number, to: &metric)
        appendBytes(4, metric, to: &bytes)
    }

    private static func withEachByte(of word: UInt64, _ body: (UInt8) -> Void) {
        for shift in stride(from: 0, to: 64, by: 8) { body(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }

    /// A length-delimited field.
    private static func appendBytes(_ field: UInt64, _ content: [UInt8], to bytes: inout [UInt8]) {
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

extension StoreSnapshot {
    /// The whole page as protobuf, rendered anew.
    func protobuf(rules: StoreRules, report: ExporterReport) -> [UInt8] {
        var bytes: [UInt8] = []
        func each(_ family: MetricFamily, _ value: (Int) -> Double?) {
            ProtobufExposition.append(family, self, to: &bytes) { city, append in
                if let value = value(city) { append([], value) }
            }
        }
        each(.index) { states[$0].index }
        each(.category) { Double(states[$0].category) }
        each(.categoryDirection) { Double(states[$0].changes.direction) }
        each(.categoryChangedAt) { states[$0].changes.changedAt.map { Double($0) / 1000 } }
        ProtobufExposition.append(.categoryChanges, self, to: &bytes) { city, append in
            append([Array("better".utf8)], Double(states[city].changes.better))
            append([Array("worse".utf8)], Double(states[city].changes.worse))
        }
        each(.lastUpdateAt) { Double(states[$0].updatedAt) / 1000 }
        ProtobufExposition.append(
            rules.scale.families + feedFamilies + storeFamilies(rules: rules) + report.families, to: &bytes)
        return bytes
    }
}
