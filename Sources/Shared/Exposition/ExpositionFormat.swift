/// The formats that a scrape may be answered in. They differ in the lines above the samples and in the last line: our
/// names are of the old character set, and there are neither timestamps nor `_created` series.
public enum ExpositionFormat: String, Sendable, CaseIterable {
    /// Prometheus' text format 0.0.4.
    case text004
    /// OpenMetrics 1.0.0.
    case openMetrics100

    public var contentType: String {
        switch self {
        case .text004: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics100: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Text after all families.
    public var end: String { self == .openMetrics100 ? "# EOF\n" : "" }

    /// The families of a source that have samples; none without a source.
    public func text<Source>(of families: [Family<Source>], from source: Source?) -> [UInt8] {
        guard let source else { return [] }
        var text: [UInt8] = []
        for family in families { family.append(source, in: self, to: &text) }
        return text
    }
}
