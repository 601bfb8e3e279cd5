import JSON

/// The lines of some families, of which only the numbers are written anew. To be made anew when there are other series.
struct KeptLines: Sendable {
    private var format: ExpositionFormat?
    /// All that stands between the numbers.
    private var text: [UInt8] = []
    /// Where in it the numbers stand.
    private var places: [Int] = []

    /// - Parameters:
    ///   - value: of each sample, in the order of the families.
    ///   - families: asked for when nothing is kept; their values do not matter.
    mutating func append(
        to page: inout [UInt8], format: ExpositionFormat, value: (_ sample: Int) -> Double,
        families: () -> [FamilySamples]
    ) {
        if self.format != format {
            keep(families(), format)
            self.format = format
        }
        page.append(addingCapacity: text.count + 24 * places.count) { page in
            var copied = 0
            for (sample, place) in places.enumerated() {
                page.append(copying: text.span.extracting(copied..<place))
                page.append(DecimalText(shortest: value(sample)))
                copied = place
            }
            page.append(copying: text.span.extracting(copied...))
        }
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
