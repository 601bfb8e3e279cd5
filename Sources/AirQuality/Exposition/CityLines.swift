import JSON

/// Where the lines are in the text of one family for the cities of one page, so that a changed value is written where it
/// stands.
///
/// The text is kept by ``PageTexts``, beside all others that a scrape gets, and given to each call.
struct CityLines: Sendable {
    /// For each series of each city; without text where the series has no value.
    private var lines: [Line] = []

    init() {}

    /// Writes the text.
    ///
    /// - Parameters:
    ///   - values: of all lines that there are to be, in their order.
    ///   - names: of the cities of the page, by position.
    init(_ values: [LineValue], names: EscapedNames, parts: [CityFamily.LineParts], text: inout [UInt8]) {
        text = []
        lines.reserveCapacity(names.count * parts.count)
        let partCount = parts.reduce(0) { $0 + $1.beforeName.count + $1.afterName.count + 1 }
        let capacity =
            names.byteCount * parts.count + values.reduce(names.count * partCount) { $0 + $1.value.count }
        text.append(addingCapacity: capacity) { text in
            for value in values {
                while lines.count < value.line { lines.append(Line(end: text.count, valueCount: 0)) }
                let (position, series) = value.line.quotientAndRemainder(dividingBy: parts.count)
                Self.append(parts[series], name: names[position], value.value, to: &text)
                lines.append(Line(end: text.count, valueCount: value.value.count))
            }
        }
        while lines.count < names.count * parts.count { lines.append(Line(end: text.count, valueCount: 0)) }
    }

    /// Writes values over those that the lines have.
    ///
    /// - Parameters:
    ///   - values: in the order of the lines.
    ///   - snapshot: has the names, for lines that there were not before.
    ///   - memory: to use for a moment.
    mutating func update(
        _ text: inout [UInt8], _ values: [LineValue], _ snapshot: StoreSnapshot, parts: [CityFamily.LineParts],
        memory: inout UpdateMemory
    ) {
        memory.misfits.removeAll(keepingCapacity: true)
        overwrite(&text, values, misfits: &memory.misfits)
        guard !memory.misfits.isEmpty else { return }
        if memory.misfits.contains(where: { lines[$0.line].valueCount == 0 }) {
            replace(&text, memory.misfits, snapshot, parts: parts, memory: &memory.text)
        } else {
            shift(&text, memory.misfits)
        }
    }

    /// What an update needs for a moment, kept to save the allocations.
    struct UpdateMemory: Sendable {
        fileprivate var misfits: [LineValue] = []
        fileprivate var text: [UInt8] = []
    }

    /// - Parameter misfits: those that have another length than the value before are added here.
    private func overwrite(_ text: inout [UInt8], _ values: [LineValue], misfits: inout [LineValue]) {
        let lines = lines
        var text = text.mutableSpan
        for value in values {
            let line = lines[value.line]
            if line.valueCount == value.value.count {
                value.value.write(to: &text, before: line.end &- 1)
            } else {
                misfits.append(value)
            }
        }
    }

    /// Makes room for values of other lengths by moving what is between them.
    private mutating func shift(_ text: inout [UInt8], _ values: [LineValue]) {
        let count = text.count
        let growth = values.reduce(0) { $0 + $1.value.count - self.lines[$1.line].valueCount }
        if growth > 0 {
            Self.reserve(count + growth, in: &text)
            text.append(addingCapacity: growth) { $0.append(repeating: 0, count: growth) }
        }
        move(&text, between: values, count: count, growth: growth)
        if growth < 0 { text.removeLast(-growth) }
        moveLines(for: values)
        let lines = lines
        var text = text.mutableSpan
        for value in values { value.value.write(to: &text, before: lines[value.line].end - 1) }
    }

    private mutating func moveLines(for values: [LineValue]) {
        var distance = 0
        for (index, value) in values.enumerated() {
            let old = lines[value.line]
            distance += value.value.count - old.valueCount
            lines[value.line] = Line(end: old.end + distance, valueCount: value.value.count)
            let next = index + 1 < values.count ? values[index + 1].line : lines.count
            move(value.line + 1..<next, by: distance)
        }
    }

    /// What goes to the right is moved from the last to the first, and what goes to the left from the first to the last, so
    /// that nothing is written over before it was moved: between two neighbours that part, there is a value that shrank.
    private func move(_ text: inout [UInt8], between values: [LineValue], count: Int, growth total: Int) {
        let lines = lines
        var text = text.mutableSpan
        func end(_ index: Int) -> Int {
            index + 1 < values.count ? lines[values[index + 1].line].valueRange.lowerBound : count
        }
        func growth(_ index: Int) -> Int { values[index].value.count - lines[values[index].line].valueCount }
        var distance = total
        for index in values.indices.reversed() {
            if distance > 0 { text.move(lines[values[index].line].valueRange.upperBound..<end(index), by: distance) }
            distance -= growth(index)
        }
        for index in values.indices {
            distance += growth(index)
            if distance < 0 { text.move(lines[values[index].line].valueRange.upperBound..<end(index), by: distance) }
        }
    }

    /// Not twice the memory, which an array takes when it grows by itself.
    private static func reserve(_ count: Int, in text: inout [UInt8]) {
        if text.capacity < count { text.reserveCapacity(count + count / 64) }
    }

    /// As ``shift(_:_:)``, for lines as well that there were not before. Not for all, because it reads and writes the text
    /// twice; ``shift(_:_:)`` with new lines as well takes a tenth more instructions.
    ///
    /// - Parameter values: one at least.
    private mutating func replace(
        _ text: inout [UInt8], _ values: [LineValue], _ snapshot: StoreSnapshot, parts: [CityFamily.LineParts],
        memory: inout [UInt8]
    ) {
        let start = lines[values[0].line].valueRange.lowerBound
        let capacity = text.count - start + growth(values, snapshot, parts: parts)
        memory.removeAll(keepingCapacity: true)
        memory.append(addingCapacity: capacity) { replaced in
            var copied = start
            var moved = values[0].line
            for value in values {
                let old = lines[value.line]
                let distance = start + replaced.count - copied
                move(moved..<value.line, by: distance)
                replaced.append(copying: text.span.extracting(copied..<old.valueRange.lowerBound))
                if old.valueCount == 0 {
                    var escaped: [UInt8] = []
                    TextExposition.appendEscaped(snapshot.name(value.city), to: &escaped)
                    Self.append(parts[value.line % parts.count], name: escaped[...], value.value, to: &replaced)
                } else {
                    replaced.append(value.value)
                }
                copied = old.valueRange.upperBound
                lines[value.line] = Line(
                    end: old.end + start + replaced.count - copied, valueCount: value.value.count)
                moved = value.line + 1
            }
            move(moved..<lines.count, by: start + replaced.count - copied)
            replaced.append(copying: text.span.extracting(copied...))
        }
        text.removeSubrange(start...)
        Self.reserve(start + memory.count, in: &text)
        text.append(addingCapacity: memory.count) { $0.append(copying: memory.span) }
    }

    /// By how much the text grows at most.
    private func growth(
        _ values: [LineValue], _ snapshot: StoreSnapshot, parts: [CityFamily.LineParts]
    ) -> Int {
        values.reduce(0) { growth, value in
            let old = lines[value.line].valueCount
            guard old == 0 else { return growth + value.value.count - old }
            let parts = parts[value.line % parts.count]
            // Escaped, a name is at most twice as long.
            return growth + parts.beforeName.count + snapshot.name(value.city).count * 2 + parts.afterName.count
                + value.value.count + 1
        }
    }

    private mutating func move(_ moved: Range<Int>, by distance: Int) {
        guard distance != 0 else { return }
        var lines = lines.mutableSpan
        for index in moved { lines[index].move(by: distance) }
    }

    @inline(__always)
    private static func append(
        _ parts: CityFamily.LineParts, name: ArraySlice<UInt8>, _ value: DecimalText, to text: inout OutputSpan<UInt8>
    ) {
        text.append(copying: parts.beforeName.span)
        text.append(copying: name.span)
        text.append(copying: parts.afterName.span)
        text.append(value)
        text.append(UInt8(ascii: "\n"))
    }

    /// Where a line ends, and how many of its bytes in front of the line feed are the value; 0 when there is no line.
    ///
    /// In one word, because an edit should read little: with many cities this is not in the processor's cache.
    private struct Line: Sendable {
        private var word: UInt32

        init(end: Int, valueCount: Int) {
            word = UInt32(end << 5 | valueCount)
        }

        @inline(__always)
        var end: Int { Int(word >> 5) }
        @inline(__always)
        var valueCount: Int { Int(word & 31) }
        /// The end of the line before, where there is none.
        @inline(__always)
        var valueRange: Range<Int> {
            valueCount == 0 ? end..<end : end &- 1 &- valueCount..<end &- 1
        }

        mutating func move(by distance: Int) {
            word &+= UInt32(truncatingIfNeeded: distance << 5)
        }
    }
}

/// Names as label values, one behind the other.
struct EscapedNames {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }
    var byteCount: Int { bytes.count }

    subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

    mutating func append(_ name: ArraySlice<UInt8>) {
        TextExposition.appendEscaped(name, to: &bytes)
        ends.append(bytes.count)
    }
}
