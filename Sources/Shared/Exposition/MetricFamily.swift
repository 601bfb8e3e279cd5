internal import Bytes

/// Name, type, help and label names of a metric family.
public struct MetricFamily: Sendable {
    public enum Kind: String, Sendable { case gauge, counter }

    /// The name in text format 0.0.4, including `_total` for counters.
    public let name: String
    public let kind: Kind
    public let help: String
    public let labels: [String]
    /// HELP and TYPE lines in the order that each format requires.
    private let textHeader: [UInt8]
    private let openMetricsHeader: [UInt8]
    /// Text before each label value; in a family without labels, before the sample's value.
    let beforeLabels: [[UInt8]]

    /// - Parameters:
    ///   - name: in the legacy character set; ends in `_total` if it is a counter.
    ///   - help: one line without backslashes.
    public init(_ name: String, _ kind: Kind, labels: [String], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        textHeader = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
        // OpenMetrics omits `_total` from a counter's family name and requires the type first.
        let short = kind == .counter ? String(name.dropLast("_total".count)) : name
        openMetricsHeader = Array("# TYPE \(short) \(kind.rawValue)\n# HELP \(short) \(help)\n".utf8)
        var beginnings = ["\(name) "]
        if let first = labels.first {
            beginnings = ["\(name){\(first)=\""] + labels.dropFirst().map { "\",\($0)=\"" }
        }
        beforeLabels = beginnings.map { Array($0.utf8) }
    }

    /// Appends the family with its samples, or nothing if there are none.
    @inline(__always)
    func append(in format: ExpositionFormat, to page: inout [UInt8], samples: (inout [UInt8]) -> Void) {
        let start = page.count
        page += format == .openMetrics100 ? openMetricsHeader : textHeader
        let end = page.count
        samples(&page)
        if page.count == end { page.removeLast(end - start) }
    }

    func appendSample(_ values: [String], _ number: Double, to page: inout [UInt8]) {
        page += beforeLabels[0]
        for (index, value) in values.enumerated() {
            if index > 0 { page += beforeLabels[index] }
            page.appendLabelValue(value.utf8)
        }
        if !values.isEmpty { page += "\"} ".utf8 }
        page.appendNumber(number)
        page.append(UInt8(ascii: "\n"))
    }
}

extension [UInt8] {
    /// Appends UTF-8 as a label value, escaping backslashes, quotation marks and line feeds.
    mutating func appendLabelValue(_ text: some Collection<UInt8>) {
        guard text.contains(where: isEscaped) else { return append(contentsOf: text) }
        for byte in text {
            if isEscaped(byte) { append(UInt8(ascii: "\\")) }
            append(byte == UInt8(ascii: "\n") ? UInt8(ascii: "n") : byte)
        }
    }
}

private func isEscaped(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"")
}
