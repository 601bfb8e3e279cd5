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
    /// The store's version when the blocks were last brought up to date, and the format of the headers.
    private var version: UInt64 = 0
    private var format = ExpositionFormat.text004
    /// The blocks then, in their order.
    private var page: [ExpositionBlock] = []
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
        /// nil: as the name is.
        let escapedName: [UInt8]?
        let escapedNameByteCount: Int
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
        if version == snapshot.version, self.format == format { return page }
        // While blocks are made anew nothing else refers to the old ones, so that their memory is used again at once.
        page = []
        if (self.format == .protobuf) != (format == .protobuf) {
            runs = []
            version = 0
        }
        self.format = format
        update(snapshot)
        page = blocks(in: snapshot.order)
        return page
    }

    private mutating func blocks(in order: CityOrder) -> [ExpositionBlock] {
        var page: [ExpositionBlock] = []
        page.reserveCapacity(families.count * (1 + order.sequence.count))
        for family in families.indices {
            let (first, sequence) = (page.count, order.sequence.span)
            var sampleByteCount = 0
            for index in sequence.indices {
                let block = runs[Int(sequence[index])].blocks[family].block
                guard !block.bytes.isEmpty else { continue }
                sampleByteCount += block.bytes.count
                page.append(block)
            }
            guard sampleByteCount > 0 else { continue }
            page.insert(header(of: family, sampleByteCount: sampleByteCount), at: first)
        }
        return page
    }

    private mutating func header(of family: Int, sampleByteCount: Int) -> ExpositionBlock {
        let key = HeaderKey(format: format, sampleByteCount: format == .protobuf ? sampleByteCount : nil)
        return headers[family].value(for: key) {
            ExpositionBlock(format.header(of: families[family].family, sampleByteCount: sampleByteCount))
        }
    }

    private mutating func update(_ snapshot: StoreSnapshot) {
        while runs.count < snapshot.order.pages.count { runs.append(Run()) }
        for (number, run) in snapshot.order.pages.enumerated() {
            if runs[number].layoutVersion != run.layoutVersion || run.cities.isEmpty {
                let empty = CityBlock(sampleByteCounts: Array(repeating: 0, count: run.cities.count))
                runs[number] = Run(
                    layoutVersion: run.layoutVersion, blocks: Array(repeating: empty, count: families.count))
                update(number, run, snapshot, since: 0)
            } else {
                update(number, run, snapshot, since: version)
            }
        }
        version = snapshot.version
    }

    /// Makes those blocks of a run anew that have changed since a version of the store.
    private mutating func update(
        _ number: Int, _ run: CityPage, _ snapshot: StoreSnapshot, since version: UInt64
    ) {
        let (names, cities) = (snapshot.names.bytes, run.cities.span)
        var withReading: [ChangedCity] = []
        for position in cities.indices {
            let city = Int(cities[position])
            guard snapshot.states.version(of: city) > version else { continue }
            let figures = CityFigures(state: snapshot.states[city], concentrations: snapshot.concentrations[city])
            let name = figures.state.nameRange
            let escapedName = TextExposition.escaped(names.span.extracting(name))
            withReading.append(
                ChangedCity(
                    position: position, escapedName: escapedName,
                    escapedNameByteCount: escapedName?.count ?? name.count, figures: figures))
        }
        let withCategory =
            version == 0 ? withReading : withReading.filter { $0.figures.state.categoryVersion > version }
        guard !withReading.isEmpty else { return }
        for (index, family) in families.enumerated() {
            let changed = family.change == .reading ? withReading : withCategory
            guard !changed.isEmpty else { continue }
            let old = runs[number].blocks[index]
            runs[number].blocks[index] = block(of: family, changed.span, names.span, replacing: old)
        }
    }

    /// The block with other samples of the cities that have changed.
    private mutating func block(
        of family: CityFamily, _ changed: Span<ChangedCity>, _ names: Span<UInt8>, replacing old: CityBlock
    ) -> CityBlock {
        var counts = old.sampleByteCounts
        var replacedCount = 0
        for index in changed.indices { replacedCount += Int(counts[changed[index].position]) }
        samples.removeAll(keepingCapacity: true)
        if format == .protobuf {
            for index in changed.indices {
                let start = samples.count
                let name = names.extracting(changed[index].figures.state.nameRange)
                ProtobufExposition.appendSamples(of: family, city: name, changed[index].figures, to: &samples)
                counts[changed[index].position] = UInt16(samples.count - start)
            }
        } else {
            // Once for all of them, because asking for room takes a tenth of what a sample takes.
            samples.append(addingCapacity: maximumTextByteCount(of: family, changed)) { text in
                Self.append(family, changed, names, to: &text, &counts)
            }
        }
        let byteCount = old.block.bytes.count - replacedCount + samples.count
        let bytes = bytes(of: old, replacing: changed, counts, byteCount: byteCount)
        return CityBlock(block: ExpositionBlock(bytes), sampleByteCounts: counts)
    }

    /// - Parameter counts: what each city's samples take is written here.
    private static func append(
        _ family: CityFamily, _ changed: Span<ChangedCity>, _ names: Span<UInt8>, to text: inout OutputSpan<UInt8>,
        _ counts: inout [UInt16]
    ) {
        for index in changed.indices {
            let start = text.count
            if let escapedName = changed[index].escapedName {
                text.appendSamples(of: family, city: escapedName.span, changed[index].figures)
            } else {
                let name = names.extracting(changed[index].figures.state.nameRange)
                text.appendSamples(of: family, city: name, changed[index].figures)
            }
            counts[changed[index].position] = UInt16(text.count - start)
        }
    }

    private func maximumTextByteCount(of family: CityFamily, _ changed: Span<ChangedCity>) -> Int {
        var nameByteCount = 0
        for index in changed.indices {
            nameByteCount += changed[index].escapedNameByteCount
        }
        return changed.count * family.maximumTextByteCount + family.samples.count * nameByteCount
    }

    /// - Parameter counts: the new ones.
    private func bytes(
        of old: CityBlock, replacing changed: Span<ChangedCity>, _ counts: [UInt16], byteCount: Int
    ) -> [UInt8] {
        let (block, sampleByteCounts) = (old.block.bytes, old.sampleByteCounts)
        return [UInt8](capacity: byteCount) { bytes in
            let (old, oldCounts, samples) = (block.span, sampleByteCounts.span, samples.span)
            // Where the old samples of the position are, and those that are not copied yet begin: the old, the new.
            var (position, place) = (0, 0)
            var (oldStart, start) = (0, 0)
            for index in changed.indices {
                let kept = oldCounts.extracting(position..<changed[index].position)
                for index in kept.indices { place &+= Int(kept[index]) }
                bytes.append(copying: old.extracting(oldStart..<place))
                position = changed[index].position
                let end = start + Int(counts[position])
                bytes.append(copying: samples.extracting(start..<end))
                place += Int(oldCounts[position])
                (oldStart, start, position) = (place, end, position + 1)
            }
            bytes.append(copying: old.extracting(oldStart...))
        }
    }
}
