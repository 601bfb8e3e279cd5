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
                accepted: AcceptedFormat(format: format, escaping: match.range.knownEscaping)
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
    typealias Text = Substring.UTF8View

    let type, subtype: Text
    private(set) var version, escaping, proto, encoding: Text?
    /// In thousandths.
    private(set) var quality = 1000

    static func parse(_ header: String) -> [MediaRange] {
        var ranges: [MediaRange] = []
        var rest = header.utf8[...]
        while !rest.isEmpty {
            if let range = MediaRange(next(&rest, before: UInt8(ascii: ","))) { ranges.append(range) }
        }
        return ranges
    }

    private init?(_ text: Text) {
        var rest = text
        var media = Self.next(&rest, before: UInt8(ascii: ";"))
        type = trimmed(Self.next(&media, before: UInt8(ascii: "/")))
        subtype = trimmed(media)
        guard !type.isEmpty, !subtype.isEmpty, !subtype.contains(UInt8(ascii: "/")) else { return nil }
        while !rest.isEmpty {
            var value = Self.next(&rest, before: UInt8(ascii: ";"))
            let name = trimmed(Self.next(&value, before: UInt8(ascii: "=")))
            value = Self.unquoted(trimmed(value))
            guard !value.isEmpty else { continue }
            if equalsIgnoringCase(name, "q") {
                guard let quality = qualityValue(value) else { return nil }
                self.quality = quality
            } else if equalsIgnoringCase(name, "version") {
                version = version ?? value
            } else if equalsIgnoringCase(name, "escaping") {
                escaping = escaping ?? value
            } else if equalsIgnoringCase(name, "proto") {
                proto = proto ?? value
            } else if equalsIgnoringCase(name, "encoding") {
                encoding = encoding ?? value
            }
        }
    }

    /// One of the four that there are.
    var knownEscaping: String? {
        guard let escaping else { return nil }
        return ["allow-utf-8", "underscores", "dots", "values"].first { escaping.elementsEqual($0.utf8) }
    }

    var specificity: Int {
        type.elementsEqual("*".utf8) ? 0 : subtype.elementsEqual("*".utf8) ? 1 : version == nil ? 2 : 3
    }

    func covers(_ format: ExpositionFormat) -> Bool {
        if type.elementsEqual("*".utf8) { return subtype.elementsEqual("*".utf8) && !format.isByRequestOnly }
        switch format {
        case .text004: return isText("text", "plain", version: "0.0.4", isDefault: true)
        case .text100: return isText("text", "plain", version: "1.0.0", isDefault: false)
        case .openMetrics001: return isText("application", "openmetrics-text", version: "0.0.1", isDefault: true)
        case .openMetrics100: return isText("application", "openmetrics-text", version: "1.0.0", isDefault: true)
        case .protobuf:
            return equalsIgnoringCase(subtype, "vnd.google.protobuf") && equalsIgnoringCase(type, "application")
                && proto?.elementsEqual("io.prometheus.client.MetricFamily".utf8) == true
                && encoding?.elementsEqual("delimited".utf8) == true
        }
    }

    /// - Parameter isDefault: the format is meant where no version is named.
    private func isText(_ type: String, _ subtype: String, version: String, isDefault: Bool) -> Bool {
        guard self.version?.elementsEqual(version.utf8) ?? isDefault else { return false }
        return equalsIgnoringCase(self.type, type)
            && (equalsIgnoringCase(self.subtype, subtype) || self.subtype.elementsEqual("*".utf8))
    }

    /// Takes what stands before the next separator outside of quotation marks.
    private static func next(_ text: inout Text, before separator: UInt8) -> Text {
        var isQuoted = false
        let end = text.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
        defer { text = text[(end ?? text.endIndex)...].dropFirst() }
        return text[..<(end ?? text.endIndex)]
    }

    private static func unquoted(_ text: Text) -> Text {
        guard text.contains(UInt8(ascii: "\"")) else { return text }
        return Substring(decoding: text.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self).utf8
    }
}
