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

    /// Not to be given to somebody who takes anything.
    fileprivate var isByRequestOnly: Bool {
        self == .protobuf || self == .text100
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

    /// - Parameters:
    ///   - city: its name.
    ///   - escaped: the name as the text formats have it, if it is another there.
    func appendSamples(
        of family: CityFamily, city: Span<UInt8>, escaped: [UInt8]?, _ figures: CityFigures, to bytes: inout [UInt8]
    ) {
        // A span lends its elements. A loop over the array would retain what each refers to, for each city.
        let samples = family.samples.span
        for index in samples.indices {
            guard let value = samples[index].value(figures) else { continue }
            if self == .protobuf {
                let labels = [LabelValue(city.indices.map { city[$0] })] + (samples[index].label.map { [$0] } ?? [])
                ProtobufExposition.appendSample(of: family.family, labels: labels, value, to: &bytes)
            } else if let escaped {
                TextExposition.appendSample(samples[index].text, city: escaped.span, value, to: &bytes)
            } else {
                TextExposition.appendSample(samples[index].text, city: city, value, to: &bytes)
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
        let ranges = accept.map(MediaRange.parse) ?? []
        var best: (quality: Int, place: Int, specificity: Int, accepted: AcceptedFormat)?
        for format in ExpositionFormat.allCases {
            var match: (place: Int, range: MediaRange)?
            for (place, range) in ranges.enumerated() where range.covers(format) {
                if match.map({ range.specificity > $0.range.specificity }) ?? true { match = (place, range) }
            }
            guard let match, match.range.quality > 0 else { continue }
            let candidate = (
                quality: match.range.quality, place: match.place, specificity: match.range.specificity,
                accepted: AcceptedFormat(format: format, escaping: match.range.escaping)
            )
            guard let leader = best else {
                best = candidate
                continue
            }
            if candidate.quality > leader.quality
                || (candidate.quality == leader.quality && candidate.place < leader.place)
                // OpenMetrics without a version: the newest.
                || (candidate.quality == leader.quality && candidate.place == leader.place
                    && candidate.accepted.format == .openMetrics100 && leader.accepted.format == .openMetrics001)
            {
                best = candidate
            }
        }
        return best?.accepted ?? AcceptedFormat(format: .text004, escaping: nil)
    }
}

/// One range of an `Accept` header.
private struct MediaRange {
    var type: Substring
    var subtype: Substring
    var parameters: [(name: String, value: String)] = []
    /// In thousandths.
    var quality = 1000

    static func parse(_ header: String) -> [MediaRange] {
        split(header, at: ",").compactMap(MediaRange.init)
    }

    private init?(_ text: Substring) {
        let parts = Self.split(text, at: ";")
        let media = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map(Self.trimmed)
        guard media.count == 2, !media[0].isEmpty, !media[1].isEmpty else { return nil }
        (type, subtype) = (media[0].lowercased()[...], media[1].lowercased()[...])
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard pair.count == 2 else { continue }
            let name = pair[0].lowercased()
            let value = Substring(pair[1].filter { $0 != "\"" })
            if name == "q" {
                guard let quality = Self.thousandths(value) else { return nil }
                self.quality = quality
            } else {
                parameters.append((name, String(value)))
            }
        }
    }

    var specificity: Int {
        type == "*" ? 0 : subtype == "*" ? 1 : 2 + (version == nil ? 0 : 1)
    }

    private var version: String? {
        parameters.first { $0.name == "version" }?.value
    }

    var escaping: String? {
        let value = parameters.first { $0.name == "escaping" }?.value
        return value.flatMap { ["allow-utf-8", "underscores", "dots", "values"].contains($0) ? $0 : nil }
    }

    func covers(_ format: ExpositionFormat) -> Bool {
        if type == "*" { return subtype == "*" && !format.isByRequestOnly }
        switch format {
        case .text004: return isText("text", "plain") && (version == nil || version == "0.0.4")
        case .text100: return isText("text", "plain") && version == "1.0.0"
        case .openMetrics001: return isText("application", "openmetrics-text") && (version == nil || version == "0.0.1")
        case .openMetrics100: return isText("application", "openmetrics-text") && (version == nil || version == "1.0.0")
        case .protobuf:
            return type == "application" && subtype == "vnd.google.protobuf"
                && parameters.contains { $0.name == "proto" && $0.value == "io.prometheus.client.MetricFamily" }
                && parameters.contains { $0.name == "encoding" && $0.value == "delimited" }
        }
    }

    private func isText(_ type: String, _ subtype: String) -> Bool {
        self.type == type && (self.subtype == subtype || self.subtype == "*")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    /// Splits outside of quoted strings.
    private static func split(_ text: some StringProtocol, at separator: Character) -> [Substring] {
        var isQuoted = false
        return Substring(text).split(omittingEmptySubsequences: true) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }

    /// A quality as RFC 9110 section 12.4.2 writes it; digits behind the third are cut off.
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int(parts[0]), whole == 0 || whole == 1 else { return nil }
        let digits = parts.count == 2 ? parts[1].prefix(3) : ""
        guard let fraction = Int((digits + "000").prefix(3)), fraction >= 0 else { return nil }
        let quality = whole * 1000 + fraction
        return quality <= 1000 ? quality : nil
    }
}
