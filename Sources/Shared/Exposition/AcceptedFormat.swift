internal import HTTPText

/// The format that a scraper requests in its `Accept` header.
public struct AcceptedFormat: Sendable, Equatable {
    public var format: ExpositionFormat
    /// The `escaping` that the scraper requests, if valid. All four give the same names here.
    public var escaping: String?

    public var contentType: String { format.contentType + (escaping.map { "; escaping=" + $0 } ?? "") }

    /// Finds the supported format with the highest quality; among equals, the one named first. Falls back to text
    /// 0.0.4 (never 406), as Prometheus's content negotiation expects.
    ///
    /// The quality of a format is that of the most specific range covering it (RFC 9110 section 12.5.1). Ranges with a
    /// quality outside 0 … 1, which one Prometheus release sent, are ignored.
    public static func negotiate(_ accept: String?) -> AcceptedFormat {
        let ranges = accept.map(AcceptElement.list) ?? []
        let decidingIndices = ExpositionFormat.allCases.map { mostSpecific(of: ranges, for: $0) }
        var best = AcceptedFormat(format: .text004)
        var bestQuality = 0
        for (index, range) in ranges.enumerated() where range.quality > bestQuality {
            guard let rank = decidingIndices.firstIndex(of: index) else { continue }
            best = AcceptedFormat(format: ExpositionFormat.allCases[rank], escaping: range.escaping)
            bestQuality = range.quality
        }
        return best
    }

    /// Returns the position of the range that applies to the format, the first of equally specific ones.
    private static func mostSpecific(of ranges: [AcceptElement], for format: ExpositionFormat) -> Int? {
        let specificities = ranges.map { $0.specificity(for: format) }
        guard let highest = specificities.max(), highest > 0 else { return nil }
        return specificities.firstIndex(of: highest)
    }
}

extension AcceptElement {
    /// The value of `escaping` if it is one of the four defined ones.
    fileprivate var escaping: String? {
        let escapings = ["allow-utf-8", "underscores", "dots", "values"]
        return parameters.first { $0.name == "escaping" && escapings.contains($0.value) }?.value
    }

    /// How closely the range describes the format, from 1; 0 if it does not cover it.
    fileprivate func specificity(for format: ExpositionFormat) -> Int {
        if name == "*/*" { return 1 }
        let version = parameters.first { $0.name == "version" }?.value
        guard version == nil || version == format.version else { return 0 }
        if name == format.mediaType.prefix(while: { $0 != "/" }) + "/*" { return 2 }
        guard name == format.mediaType else { return 0 }
        return version == nil ? 3 : 4
    }
}
