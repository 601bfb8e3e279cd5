import Bytes

/// The formats that a scrape may be answered in.
public enum ExpositionFormat: String, Sendable, CaseIterable {
    case text004, text100, openMetrics001, openMetrics100, protobuf

    public var contentType: String {
        switch self {
        case .text004: "text/plain; version=0.0.4; charset=utf-8"
        // All names are of the old character set, so they are the same under every escaping.
        case .text100: "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
        case .openMetrics001: "application/openmetrics-text; version=0.0.1; charset=utf-8"
        case .openMetrics100: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .protobuf:
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
        }
    }

    var isOpenMetrics: Bool {
        self == .openMetrics001 || self == .openMetrics100
    }
}

extension ExpositionFormat {
    /// Adds the families that have samples.
    func append<Source>(_ families: [SourceFamily<Source>], of subjects: [Subject<Source>], to bytes: inout [UInt8]) {
        for family in families {
            let start = bytes.count
            for subject in subjects { appendSamples(of: family, subject, to: &bytes) }
            guard bytes.count > start else { continue }
            bytes.insert(contentsOf: header(of: family.family, sampleByteCount: bytes.count - start), at: start)
        }
    }

    private func appendSamples<Source>(
        of family: SourceFamily<Source>, _ subject: Subject<Source>, to bytes: inout [UInt8]
    ) {
        family.addSamples(subject.source) { labels, value in
            if self == .protobuf {
                let labels = (subject.label.map { [$0] } ?? []) + labels
                ProtobufExposition.appendSample(of: family.family, labels: labels, value, to: &bytes)
            } else {
                TextExposition.appendSample(of: family.family.text, subject.label, labels, value, to: &bytes)
            }
        }
    }

    /// What stands before the samples of a family.
    func header(of family: MetricFamily, sampleByteCount: Int) -> [UInt8] {
        switch self {
        case .text004, .text100: family.text.header
        case .openMetrics001, .openMetrics100: family.text.openMetricsHeader
        case .protobuf: ProtobufExposition.header(of: family, sampleByteCount: sampleByteCount)
        }
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
        let ranges = accept.map { acceptElements($0).map(MediaRange.init) } ?? []
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

/// One element of an `Accept` field (RFC 9110 section 12.5.1).
private struct AcceptElement {
    /// The media range, in lower case.
    var name: String
    /// Without the quality, in the order in which they were given: names in lower case, values without quotation marks.
    var parameters: [(name: String, value: String)] = []
    /// 0 to 1, in thousandths.
    var quality = 1000

    /// The value of a parameter that is given once at least: the first one.
    subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }
}

/// The elements of such a field in their order, without those whose quality is malformed.
private func acceptElements(_ field: String) -> [AcceptElement] {
    split(field.utf8[...], at: UInt8(ascii: ",")).compactMap { element in
        var parts = split(element, at: UInt8(ascii: ";"))[...]
        guard let name = parts.popFirst().map(text), !name.isEmpty else { return nil }
        var result = AcceptElement(name: name.lowercased())
        for part in parts {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (text(pair[0]).lowercased(), pair.count > 1 ? text(pair[1]) : "")
            if name == "q" {
                guard let quality = qualityValue(value.utf8Span.span) else { return nil }
                result.quality = quality
            } else if !value.isEmpty {
                result.parameters.append((name, value))
            }
        }
        return result
    }
}

/// The parts between separators, outside of quotation marks.
private func split(_ text: Substring.UTF8View, at separator: UInt8) -> [Substring.UTF8View] {
    var isQuoted = false
    return text.split(omittingEmptySubsequences: false) { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == separator && !isQuoted
    }
}

/// Without the blanks around it, and without quotation marks.
private func text(_ bytes: Substring.UTF8View) -> String {
    String(decoding: trimmed(bytes).filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
}
