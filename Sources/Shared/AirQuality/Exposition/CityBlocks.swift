import Bytes

/// An immutable part of the exposition. New content always means a new object, so a cache can use the block's
/// identity as its key.
public final class ExpositionBlock: Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The samples of the cities: a block for each family and each run of cities in the store's order.
///
/// A block is rebuilt only if one of its cities has changed, and the lines of unchanged cities are copied from the old
/// block. This saves processor time under a busy feed, where a tenth of 10,000 cities change between two scrapes: the
/// target is at most an eighth of the Rust exporter's time (Tests/Benchmarks), and with all lines of a block rendered it was
/// 0.29 of that time instead of 0.09 to 0.12.
struct CityBlocks: Sendable {
    private let families: [CityFamily]
    private var runs: [RunBlocks] = []
    private var headers: [Cached<HeaderKey, ExpositionBlock>]
    /// The store's version when the blocks were last brought up to date, and the format of the headers.
    private var version: UInt64 = 0
    private var format = ExpositionFormat.text004
    /// The samples of the cities that have changed, one behind the other.
    private var samples: [UInt8] = []

    private struct RunBlocks: Sendable {
        /// ``CityRun/layoutVersion`` of the run when these blocks were built; 0 if they never were.
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
        if (self.format == .protobuf) != (format == .protobuf) {
            runs = []
            version = 0
        }
        self.format = format
        if version != snapshot.version { update(snapshot) }
        return blocks(in: snapshot.order)
    }

    private mutating func blocks(in order: CityOrder) -> [ExpositionBlock] {
        var list: [ExpositionBlock] = []
        list.reserveCapacity(families.count * (1 + order.sequence.count))
        for family in families.indices {
            let (first, sequence) = (list.count, order.sequence.span)
            var sampleByteCount = 0
            for index in sequence.indices {
                let block = runs[Int(sequence[index])].blocks[family].block
                guard !block.bytes.isEmpty else { continue }
                sampleByteCount += block.bytes.count
                list.append(block)
            }
            guard sampleByteCount > 0 else { continue }
            list.insert(header(of: family, sampleByteCount: sampleByteCount), at: first)
        }
        return list
    }

    private mutating func header(of family: Int, sampleByteCount: Int) -> ExpositionBlock {
        let key = HeaderKey(format: format, sampleByteCount: format == .protobuf ? sampleByteCount : nil)
        return headers[family].value(for: key) {
            ExpositionBlock(format.header(of: families[family].family, sampleByteCount: sampleByteCount))
        }
    }

    private mutating func update(_ snapshot: StoreSnapshot) {
        while runs.count < snapshot.order.runs.count { runs.append(RunBlocks()) }
        for (number, run) in snapshot.order.runs.enumerated() {
            if runs[number].layoutVersion != run.layoutVersion || run.cities.isEmpty {
                let empty = CityBlock(sampleByteCounts: Array(repeating: 0, count: run.cities.count))
                runs[number] = RunBlocks(
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
        _ number: Int, _ run: CityRun, _ snapshot: StoreSnapshot, since version: UInt64
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
            // Reserve space once for all samples: reserving it for each one would add a tenth to its cost.
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
            // `place` is the offset of the old samples of the city at `position`. `oldStart` and `start` are the
            // offsets of the first old and the first new sample that has not been copied yet.
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
