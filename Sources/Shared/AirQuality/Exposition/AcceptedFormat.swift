import Bytes

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
        let ranges = accept.map { AcceptElement.list($0).map(MediaRange.init) } ?? []
        var best: (quality: Int, position: Int, accepted: AcceptedFormat)?
        for format in ExpositionFormat.allCases {
            let covering = ranges.indices.filter { ranges[$0].covers(format) }
            guard let specificity = covering.map({ ranges[$0].specificity }).max(),
                let position = covering.first(where: { ranges[$0].specificity == specificity })
            else { continue }
            let quality = ranges[position].quality
            guard quality > 0 else { continue }
            if let best {
                guard
                    quality > best.quality || (quality == best.quality && position < best.position)
                        // OpenMetrics without a version: the newest.
                        || (quality == best.quality && position == best.position && format == .openMetrics100
                            && best.accepted.format == .openMetrics001)
                else { continue }
            }
            best = (quality, position, AcceptedFormat(format: format, escaping: ranges[position].escaping))
        }
        return best?.accepted ?? AcceptedFormat(format: .text004, escaping: nil)
    }
}

/// One range of an `Accept` header.
private struct MediaRange {
    private let media: String
    private let version: String?
    /// One of the four that there are.
    let escaping: String?
    /// Protobuf's parameters are those of the one message and encoding that we have.
    private let isOurProtobuf: Bool
    let quality: Int

    init(_ element: AcceptElement) {
        media = element.name
        version = element["version"]
        let escapings = ["allow-utf-8", "underscores", "dots", "values"]
        escaping = element.parameters.first { $0.name == "escaping" && escapings.contains($0.value) }?.value
        isOurProtobuf =
            element["proto"] == "io.prometheus.client.MetricFamily" && element["encoding"] == "delimited"
        quality = element.quality
    }

    var specificity: Int {
        switch media {
        case "*/*": 0
        case "text/*", "application/*": 1
        default: version == nil ? 2 : 3
        }
    }

    func covers(_ format: ExpositionFormat) -> Bool {
        let isText = media == "text/plain" || media == "text/*"
        let isOpenMetrics = media == "application/openmetrics-text" || media == "application/*"
        // Not covered by `*/*`: the client must name text 1.0.0 and protobuf explicitly.
        return switch format {
        case .text004: media == "*/*" || isText && (version == nil || version == "0.0.4")
        case .text100: isText && version == "1.0.0"
        case .openMetrics001: media == "*/*" || isOpenMetrics && (version == nil || version == "0.0.1")
        case .openMetrics100: media == "*/*" || isOpenMetrics && (version == nil || version == "1.0.0")
        case .protobuf: media == "application/vnd.google.protobuf" && isOurProtobuf
        }
    }
}
