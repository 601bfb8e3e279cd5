/// The text formats: Prometheus text 0.0.4 and 1.0.0, OpenMetrics 0.0.1 and 1.0.0.
///
/// They differ in the lines above the samples and in the last line. The samples are the same bytes in all: our names are
/// of the old character set, and we send neither timestamps nor `_created` series.
enum TextExposition {
    /// OpenMetrics names the family of a counter without `_total` and wants the type first.
    static func appendHeader(_ family: MetricFamily, format: ExpositionFormat, to text: inout [UInt8]) {
        func append(_ keyword: String, _ name: Substring, _ content: String) {
            text.append(keyword)
            text.append(contentsOf: name.utf8)
            text.append(" ")
            text.append(content)
            text.append("\n")
        }
        guard format.isOpenMetrics else {
            append("# HELP ", family.name[...], family.help)
            append("# TYPE ", family.name[...], family.kind.rawValue)
            return
        }
        let name = family.kind == .counter ? family.name.dropLast("_total".count) : family.name[...]
        append("# TYPE ", name, family.kind.rawValue)
        append("# HELP ", name, family.help)
    }

    /// Nothing at all for a family without samples.
    static func append(_ families: [FamilySamples], format: ExpositionFormat, to text: inout [UInt8]) {
        for family in families where !family.samples.isEmpty {
            appendHeader(family.family, format: format, to: &text)
            for sample in family.samples {
                text.append(family.family.name)
                for (index, value) in sample.labels.enumerated() {
                    text.append(index == 0 ? "{" : ",")
                    text.append(family.family.labels[index])
                    text.append("=\"")
                    appendEscaped(value.utf8, to: &text)
                    text.append("\"")
                }
                text.append(sample.labels.isEmpty ? " " : "} ")
                text.appendNumber(sample.value)
                text.append("\n")
            }
        }
    }

    /// A label value: backslash, quote and line feed are escaped.
    static func appendEscaped(_ value: some Collection<UInt8>, to text: inout [UInt8]) {
        func isEscaped(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
        }
        guard value.contains(where: isEscaped) else {
            text.append(contentsOf: value)
            return
        }
        for byte in value {
            switch byte {
            case UInt8(ascii: "\\"): text.append("\\\\")
            case UInt8(ascii: "\""): text.append("\\\"")
            case UInt8(ascii: "\n"): text.append("\\n")
            default: text.append(byte)
            }
        }
    }
}
