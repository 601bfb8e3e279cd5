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
        var best: (quality: Int, place: Int, format: ExpositionFormat)?
        for format in ExpositionFormat.allCases {
            let covering = ranges.indices.filter { ranges[$0].covers(format) }
            // Takes the first of equally specific ranges.
            guard let place = covering.max(by: { ranges[$0].specificity < ranges[$1].specificity }) else { continue }
            let quality = ranges[place].quality
            guard quality > 0 else { continue }
            if let best, (best.quality, -best.place) >= (quality, -place) { continue }
            best = (quality, place, format)
        }
        guard let best else { return AcceptedFormat(format: .text004, escaping: nil) }
        return AcceptedFormat(format: best.format, escaping: ranges[best.place].escaping)
    }
}

extension AcceptElement {
    /// The value of `escaping` if it is one of the four defined ones.
    fileprivate var escaping: String? {
        let escapings = ["allow-utf-8", "underscores", "dots", "values"]
        return parameters.first { $0.name == "escaping" && escapings.contains($0.value) }?.value
    }

    fileprivate var specificity: Int {
        switch name {
        case "*/*": 0
        case "text/*", "application/*": 1
        default: self["version"] == nil ? 2 : 3
        }
    }

    fileprivate func covers(_ format: ExpositionFormat) -> Bool {
        if name == "*/*" { return true }
        let version = self["version"]
        switch format {
        case .text004: return (name == "text/plain" || name == "text/*") && (version == nil || version == "0.0.4")
        case .openMetrics100:
            let isOpenMetrics = name == "application/openmetrics-text" || name == "application/*"
            return isOpenMetrics && (version == nil || version == "1.0.0")
        }
    }
}
