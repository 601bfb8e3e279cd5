/// The lines of some families, of which only the numbers are written anew while the series are the same.
struct KeptLines<Series: Sendable & Equatable>: Sendable {
    private var kept: (series: Series, format: ExpositionFormat)?
    /// All that stands between the numbers.
    private var text: [UInt8] = []
    /// Where in it the numbers stand.
    private var places: [Int] = []

    /// - Parameters:
    ///   - series: equal when the families have the same samples, whatever their values are.
    ///   - values: of all samples, in the order of the families.
    mutating func append(
        _ values: [Double], series: Series, format: ExpositionFormat, to page: inout [UInt8],
        families: () -> [FamilySamples]
    ) {
        if kept?.format != format || kept?.series != series {
            keep(families(), format)
            kept = (series, format)
        }
        precondition(values.count == places.count, "each sample has a value")
        page.reserveCapacity(page.count + text.count + 16 * places.count)
        var copied = 0
        for (place, value) in zip(places, values) {
            page.append(contentsOf: text[copied..<place])
            page.appendNumber(value)
            copied = place
        }
        page.append(contentsOf: text[copied...])
    }

    private mutating func keep(_ families: [FamilySamples], _ format: ExpositionFormat) {
        text = []
        places = []
        var zeros = families
        for family in zeros.indices {
            for sample in zeros[family].samples.indices { zeros[family].samples[sample].value = 0 }
        }
        var page: [UInt8] = []
        TextExposition.append(zeros, format: format, to: &page)
        for line in page.split(separator: UInt8(ascii: "\n")) {
            let isSample = line.first != UInt8(ascii: "#")
            text += isSample ? line.dropLast() : line
            if isSample { places.append(text.count) }
            text.append(UInt8(ascii: "\n"))
        }
    }
}
