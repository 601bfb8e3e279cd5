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

    /// Not covered by `*/*`: the client must name this format explicitly.
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
        guard let accept else { return AcceptedFormat(format: .text004, escaping: nil) }
        // The most specific range for each format. Every scrape gets here, so there is no allocation.
        var matches = InlineArray<5, (place: Int, range: MediaRange)?>(repeating: nil)
        let bytes = accept.utf8Span.span
        var (rest, place) = (bytes.indices, 0)
        while !rest.isEmpty {
            place += 1
            guard let range = MediaRange(bytes, bytes.takeFirst(of: &rest, before: UInt8(ascii: ","))) else { continue }
            for (index, format) in ExpositionFormat.allCases.enumerated() where range.covers(format) {
                if matches[index].map({ range.specificity > $0.range.specificity }) ?? true {
                    matches[index] = (place, range)
                }
            }
        }
        var best: (quality: Int, place: Int, accepted: AcceptedFormat)?
        for (index, format) in ExpositionFormat.allCases.enumerated() {
            guard let (place, range) = matches[index], range.quality > 0 else { continue }
            if let best {
                guard
                    range.quality > best.quality || (range.quality == best.quality && place < best.place)
                        // OpenMetrics without a version: the newest.
                        || (range.quality == best.quality && place == best.place && format == .openMetrics100
                            && best.accepted.format == .openMetrics001)
                else { continue }
            }
            best = (range.quality, place, AcceptedFormat(format: format, escaping: range.escaping))
        }
        return best?.accepted ?? AcceptedFormat(format: .text004, escaping: nil)
    }
}

/// One range of an `Accept` header.
private struct MediaRange {
    private enum Media {
        case all, anyText, anyApplication, plainText, openMetrics, protobuf, other
    }

    private enum Version: String, CaseIterable {
        case v001 = "0.0.1"
        case v004 = "0.0.4"
        case v100 = "1.0.0"
        case other = ""
    }

    private let media: Media
    private var version: Version?
    /// One of the four that there are.
    private(set) var escaping: String?
    /// Protobuf's parameters are those of the one message and encoding that we have.
    private var (isMetricFamily, isDelimited) = (false, false)
    /// In thousandths.
    private(set) var quality = 1000

    init?(_ bytes: Span<UInt8>, _ text: Range<Int>) {
        var rest = text
        var subtype = bytes.takeFirst(of: &rest, before: UInt8(ascii: ";"))
        let type = bytes.trimmed(bytes.takeFirst(of: &subtype, before: UInt8(ascii: "/")))
        subtype = bytes.trimmed(subtype)
        guard !type.isEmpty, !subtype.isEmpty, !subtype.contains(where: { bytes[$0] == UInt8(ascii: "/") })
        else { return nil }
        media = Self.media(bytes, type: type, subtype: subtype)
        while !rest.isEmpty {
            var value = bytes.takeFirst(of: &rest, before: UInt8(ascii: ";"))
            let name = bytes.trimmed(bytes.takeFirst(of: &value, before: UInt8(ascii: "=")))
            guard take(bytes, parameter: name, value: bytes.trimmed(value)) else { return nil }
        }
    }

    private static func media(_ bytes: Span<UInt8>, type: Range<Int>, subtype: Range<Int>) -> Media {
        let isAny = bytes.isToken("*", at: subtype)
        if bytes.isToken("*", at: type) { return isAny ? .all : .other }
        if bytes.isToken("text", at: type) {
            if isAny { return .anyText }
            if bytes.isToken("plain", at: subtype) { return .plainText }
        } else if bytes.isToken("application", at: type) {
            if isAny { return .anyApplication }
            if bytes.isToken("openmetrics-text", at: subtype) { return .openMetrics }
            if bytes.isToken("vnd.google.protobuf", at: subtype) { return .protobuf }
        }
        return .other
    }

    /// - Returns: false if the quality is malformed; the whole range is then ignored.
    private mutating func take(_ bytes: Span<UInt8>, parameter name: Range<Int>, value: Range<Int>) -> Bool {
        if value.isEmpty { return true }
        if bytes.isToken("q", at: name) {
            guard let quality = qualityValue(bytes.extracting(bytes.unquoted(value))) else { return false }
            self.quality = quality
        } else if bytes.isToken("version", at: name) {
            version = version ?? Version.allCases.first { bytes.isValue($0.rawValue, at: value) } ?? .other
        } else if bytes.isToken("escaping", at: name) {
            escaping =
                escaping
                ?? ["allow-utf-8", "underscores", "dots", "values"].first { bytes.isValue($0, at: value) }
        } else if bytes.isToken("proto", at: name) {
            isMetricFamily = bytes.isValue("io.prometheus.client.MetricFamily", at: value)
        } else if bytes.isToken("encoding", at: name) {
            isDelimited = bytes.isValue("delimited", at: value)
        }
        return true
    }

    var specificity: Int {
        switch media {
        case .all: 0
        case .anyText, .anyApplication: 1
        case .plainText, .openMetrics, .protobuf, .other: version == nil ? 2 : 3
        }
    }

    func covers(_ format: ExpositionFormat) -> Bool {
        if media == .all { return !format.isByRequestOnly }
        let isText = media == .plainText || media == .anyText
        let isOpenMetrics = media == .openMetrics || media == .anyApplication
        return switch format {
        case .text004: isText && (version == nil || version == .v004)
        case .text100: isText && version == .v100
        case .openMetrics001: isOpenMetrics && (version == nil || version == .v001)
        case .openMetrics100: isOpenMetrics && (version == nil || version == .v100)
        case .protobuf: media == .protobuf && isMetricFamily && isDelimited
        }
    }
}

extension Span<UInt8> {
    /// Takes from a part what stands before the next separator outside of quotation marks, and the separator.
    fileprivate func takeFirst(of part: inout Range<Int>, before separator: UInt8) -> Range<Int> {
        var isQuoted = false
        var end = part.lowerBound
        while end < part.upperBound, isQuoted || self[end] != separator {
            if self[end] == UInt8(ascii: "\"") { isQuoted.toggle() }
            end += 1
        }
        defer { part = Swift.min(end + 1, part.upperBound)..<part.upperBound }
        return part.lowerBound..<end
    }

    fileprivate func trimmed(_ part: Range<Int>) -> Range<Int> { Bytes.trimmed(self, in: part) }

    /// Without the quotation marks around it.
    fileprivate func unquoted(_ part: Range<Int>) -> Range<Int> {
        let mark = UInt8(ascii: "\"")
        guard part.count > 1, self[part.lowerBound] == mark, self[part.upperBound - 1] == mark else { return part }
        return part.lowerBound + 1..<part.upperBound - 1
    }

    /// - Parameter word: in lower case; the part may be in any.
    fileprivate func isToken(_ word: String, at part: Range<Int>) -> Bool {
        guard word.utf8.count == part.count else { return false }
        var index = part.lowerBound
        for byte in word.utf8 {
            guard lowercase(self[index]) == byte else { return false }
            index += 1
        }
        return true
    }

    /// Whether a part is the text, in quotation marks or not.
    fileprivate func isValue(_ text: String, at part: Range<Int>) -> Bool {
        var expected = text.utf8.makeIterator()
        for index in part where self[index] != UInt8(ascii: "\"") {
            guard expected.next() == self[index] else { return false }
        }
        return expected.next() == nil
    }
}
