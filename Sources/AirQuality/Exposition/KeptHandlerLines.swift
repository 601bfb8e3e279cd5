/// The end of the page: the scrapes' own counts, and the mark that OpenMetrics ends with.
///
/// Every scrape counts itself, so the numbers are never the same; the text around them is kept.
struct KeptHandlerLines: Sendable {
    private var format: ExpositionFormat?
    /// nil without the counts.
    private var codes: [Int]?
    /// Before each number, and behind the last.
    private var texts: [[UInt8]] = []
    private var sizeHint = 0

    mutating func text(_ handler: ExporterReport.Handler?, _ format: ExpositionFormat) -> [UInt8] {
        if self.format != format || !isKept(handler) { keep(handler, format) }
        var text: [UInt8] = []
        text.reserveCapacity(sizeHint)
        text += texts[0]
        guard let handler else { return text }
        text.appendInteger(UInt64(handler.inFlight))
        for (index, request) in handler.requests.enumerated() {
            text += texts[index + 1]
            text.appendInteger(request.count)
        }
        text += texts[texts.count - 1]
        return text
    }

    private func isKept(_ handler: ExporterReport.Handler?) -> Bool {
        guard let codes, let handler else { return codes == nil && handler == nil }
        return codes.elementsEqual(handler.requests) { $0 == $1.code }
    }

    private mutating func keep(_ handler: ExporterReport.Handler?, _ format: ExpositionFormat) {
        self.format = format
        codes = handler?.requests.map(\.code)
        texts = [[]]
        let zeros = codes.map { ExporterReport.Handler(inFlight: 0, requests: $0.map { ($0, 0) }) }
        var page: [UInt8] = []
        TextExposition.append(zeros?.families ?? [], format: format, to: &page)
        if format.isOpenMetrics { page.append("# EOF\n") }
        for line in page.split(separator: UInt8(ascii: "\n")) {
            let isSample = line.first != UInt8(ascii: "#")
            texts[texts.count - 1] += isSample ? line.dropLast() : line
            if isSample { texts.append([]) }
            texts[texts.count - 1].append(UInt8(ascii: "\n"))
        }
        // With numbers of a usual length.
        sizeHint = texts.reduce(0) { $0 + $1.count + 10 }
    }
}
