import Bytes

/// Bytes that a scrape gets. They never change: what says something else is another block, so whoever keeps something
/// beside a block, as its compressed form, knows it again by its identity.
public final class ExpositionBlock: Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The samples of the cities: a block for each family and each run of cities in the store's order.
///
/// A block is made anew when a city in it has changed, else it is kept. The lines of cities that have not changed are
/// copied from the block before.
struct CityBlocks: Sendable {
    private let families: [CityFamily]
    private var runs: [Run] = []
    private var headers: [Cached<HeaderKey, ExpositionBlock>]
    private var isProtobuf = false
    /// The store's when the blocks were last brought up to date.
    private var version: UInt64 = 0
    /// The samples of the cities that have changed, one behind the other.
    private var samples: [UInt8] = []

    private struct Run: Sendable {
        /// The run's when its blocks were made; 0 before.
        var layoutVersion: UInt64 = 0
        /// By family.
        var blocks: [CityBlock] = []
    }

    private struct CityBlock: Sendable {
        var block = ExpositionBlock([])
        /// Bytes of each city's samples: with a name of 128 bytes some 2,500 at most.
        var sampleByteCounts: [UInt16]
    }

    private struct ChangedCity {
        /// In the run.
        let position: Int
        let escapedName: [UInt8]?
        let figures: CityFigures
    }

    private struct HeaderKey: Equatable, Sendable {
        var format: ExpositionFormat
        /// Only protobuf's header depends on it.
        var sampleByteCount: Int?
    }

    init(_ families: [CityFamily]) {
        self.families = families
        headers = Array(repeating: Cached(), count: families.count)
    }

    /// All families that have samples.
    mutating func blocks(of snapshot: StoreSnapshot, in format: ExpositionFormat) -> [ExpositionBlock] {
        update(snapshot, format)
        var page: [ExpositionBlock] = []
        for family in families.indices {
            let blocks = snapshot.order.sequence.map { runs[Int($0)].blocks[family].block }
            let sampleByteCount = blocks.reduce(0) { $0 + $1.bytes.count }
            guard sampleByteCount > 0 else { continue }
            page.append(header(of: family, sampleByteCount: sampleByteCount, in: format))
            page += blocks.filter { !$0.bytes.isEmpty }
        }
        return page
    }

    private mutating func header(
        of family: Int, sampleByteCount: Int, in format: ExpositionFormat
    ) -> ExpositionBlock {
        let key = HeaderKey(format: format, sampleByteCount: format == .protobuf ? sampleByteCount : nil)
        return headers[family].value(for: key) {
            ExpositionBlock(format.header(of: families[family].family, sampleByteCount: sampleByteCount))
        }
    }

    private mutating func update(_ snapshot: StoreSnapshot, _ format: ExpositionFormat) {
        if isProtobuf != (format == .protobuf) {
            isProtobuf = format == .protobuf
            runs = []
        }
        while runs.count < snapshot.order.pages.count { runs.append(Run()) }
        for (number, run) in snapshot.order.pages.enumerated() {
            if runs[number].layoutVersion != run.layoutVersion || run.cities.isEmpty {
                let empty = CityBlock(sampleByteCounts: Array(repeating: 0, count: run.cities.count))
                runs[number] = Run(
                    layoutVersion: run.layoutVersion, blocks: Array(repeating: empty, count: families.count))
                update(number, run, snapshot, since: 0, format)
            } else {
                update(number, run, snapshot, since: version, format)
            }
        }
        version = snapshot.version
    }

    /// Makes those blocks of a run anew that have changed since a version of the store.
    private mutating func update(
        _ number: Int, _ run: CityPage, _ snapshot: StoreSnapshot, since version: UInt64, _ format: ExpositionFormat
    ) {
        let names = snapshot.names.bytes
        let positions = run.cities.indices.filter { snapshot.states.version(of: Int(run.cities[$0])) > version }
        let withReading = positions.map { position in
            let city = Int(run.cities[position])
            let figures = CityFigures(state: snapshot.states[city], concentrations: snapshot.concentrations[city])
            let escapedName = TextExposition.escaped(names.span.extracting(figures.state.nameRange))
            return ChangedCity(position: position, escapedName: escapedName, figures: figures)
        }
        let withCategory =
            version == 0 ? withReading : withReading.filter { $0.figures.state.categoryVersion > version }
        guard !withReading.isEmpty else { return }
        for (index, family) in families.enumerated() {
            let changed = family.change == .reading ? withReading : withCategory
            guard !changed.isEmpty else { continue }
            let old = runs[number].blocks[index]
            runs[number].blocks[index] = block(of: family, changed.span, names.span, replacing: old, format)
        }
    }

    /// The block with other samples of the cities that have changed.
    private mutating func block(
        of family: CityFamily, _ changed: Span<ChangedCity>, _ names: Span<UInt8>, replacing old: CityBlock,
        _ format: ExpositionFormat
    ) -> CityBlock {
        samples.removeAll(keepingCapacity: true)
        var new = old
        var counts = new.sampleByteCounts.mutableSpan
        var replacedCount = 0
        for index in changed.indices {
            let (start, position) = (samples.count, changed[index].position)
            let name = names.extracting(changed[index].figures.state.nameRange)
            format.appendSamples(
                of: family, city: name, escaped: changed[index].escapedName, changed[index].figures,
                to: &samples)
            replacedCount += Int(counts[position])
            counts[position] = UInt16(samples.count - start)
        }
        let byteCount = old.block.bytes.count - replacedCount + samples.count
        new.block = ExpositionBlock(bytes(of: old, replacing: changed, counts.span, byteCount: byteCount))
        return new
    }

    /// - Parameter counts: the new ones.
    private func bytes(
        of old: CityBlock, replacing changed: Span<ChangedCity>, _ counts: Span<UInt16>, byteCount: Int
    ) -> [UInt8] {
        let (old, oldCounts) = (old.block.bytes, old.sampleByteCounts)
        return [UInt8](capacity: byteCount) { bytes in
            // Where the old samples of the position are, and those that are not copied yet begin: the old, the new.
            var (position, place) = (0, 0)
            var (oldStart, start) = (0, 0)
            for index in changed.indices {
                while position < changed[index].position {
                    place &+= Int(oldCounts[position])
                    position &+= 1
                }
                bytes.append(copying: old.span.extracting(oldStart..<place))
                let end = start + Int(counts[position])
                bytes.append(copying: samples.span.extracting(start..<end))
                place += Int(oldCounts[position])
                (oldStart, start, position) = (place, end, position + 1)
            }
            bytes.append(copying: old.span.extracting(oldStart...))
        }
    }
}
