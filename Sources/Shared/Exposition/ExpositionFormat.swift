/// Exposition formats. They differ only in the lines above the samples and the last line, because all metric names use
/// the legacy character set and there are no timestamps or `_created` series.
public enum ExpositionFormat: String, Sendable, CaseIterable {
    /// Prometheus text format 0.0.4.
    case text004
    /// OpenMetrics 1.0.0.
    case openMetrics100

    var mediaType: String { self == .openMetrics100 ? "application/openmetrics-text" : "text/plain" }
    var version: String { self == .openMetrics100 ? "1.0.0" : "0.0.4" }

    public var contentType: String { "\(mediaType); version=\(version); charset=utf-8" }

    /// Text that follows the last family.
    public var end: String { self == .openMetrics100 ? "# EOF\n" : "" }

    /// Renders the families of a source that have samples; empty without a source.
    public func text<Source>(of families: [Family<Source>], from source: Source?) -> [UInt8] {
        guard let source else { return [] }
        var text: [UInt8] = []
        for family in families { family.append(source, in: self, to: &text) }
        return text
    }
}
