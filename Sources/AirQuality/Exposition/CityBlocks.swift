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
    /// The samples of the cities that have changed, one behind the other, and where each city's end.
    private var samples: [UInt8] = []
    private var sampleEnds: [Int] = []

    private struct Run: Sendable {
        /// The run's when its blocks were made; 0 before.
        var layoutVersion: UInt64 = 0
        /// By family.
        var blocks: [CityBlock] = []
    }

    private struct CityBlock: Sendable {
        var block = ExpositionBlock([])
        /// Where the samples of each city end.
        var ends: [UInt32]

        func range(_ position: Int) -> Range<Int> {
            (position == 0 ? 0 : Int(ends[position - 1]))..<Int(ends[position])
        }
    }

    private struct ChangedCity {
        /// In the run.
        let position: Int
        let name: LabelValue
        let state: CityState
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
                let empty = CityBlock(ends: Array(repeating: 0, count: run.cities.count))
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
        var withReading: [ChangedCity] = []
        for (position, number) in run.cities.enumerated() where snapshot.states.version(of: Int(number)) > version {
            let state = snapshot.states[Int(number)]
            let name = LabelValue(Array(snapshot.names.bytes[state.nameRange]))
            withReading.append(ChangedCity(position: position, name: name, state: state))
        }
        guard !withReading.isEmpty else { return }
        let withCategory = version == 0 ? withReading : withReading.filter { $0.state.categoryVersion > version }
        for (index, family) in families.enumerated() {
            let changed = family.change == .reading ? withReading : withCategory
            guard !changed.isEmpty else { continue }
            runs[number].blocks[index] = block(of: family, changed.span, replacing: runs[number].blocks[index], format)
        }
    }

    /// The block with other samples of the cities that have changed.
    private mutating func block(
        of family: CityFamily, _ changed: Span<ChangedCity>, replacing old: CityBlock, _ format: ExpositionFormat
    ) -> CityBlock {
        samples.removeAll(keepingCapacity: true)
        sampleEnds.removeAll(keepingCapacity: true)
        for index in changed.indices {
            format.appendSamples(of: family, city: changed[index].name, changed[index].state, to: &samples)
            sampleEnds.append(samples.count)
        }
        var new = CityBlock(block: ExpositionBlock(bytes(of: old, replacing: changed)), ends: old.ends)
        var ends = new.ends.mutableSpan
        var (shift, start) = (0, 0)
        for index in changed.indices {
            let position = changed[index].position
            shift += sampleEnds[index] - start - old.range(position).count
            start = sampleEnds[index]
            let next = index + 1 < changed.count ? changed[index + 1].position : ends.count
            // Most samples are as long as those before, so most blocks only have other bytes.
            if shift == 0 { continue }
            for position in position..<next { ends[position] &+= UInt32(truncatingIfNeeded: shift) }
        }
        return new
    }

    private func bytes(of old: CityBlock, replacing changed: Span<ChangedCity>) -> [UInt8] {
        let (oldArray, samples) = (old.block.bytes, samples.span)
        let oldBytes = oldArray.span
        var count = oldBytes.count + samples.count
        for index in changed.indices { count -= old.range(changed[index].position).count }
        return [UInt8](capacity: count) { bytes in
            var (oldStart, start) = (0, 0)
            for index in changed.indices {
                let replaced = old.range(changed[index].position)
                bytes.append(copying: oldBytes.extracting(oldStart..<replaced.lowerBound))
                bytes.append(copying: samples.extracting(start..<sampleEnds[index]))
                (oldStart, start) = (replaced.upperBound, sampleEnds[index])
            }
            bytes.append(copying: oldBytes.extracting(oldStart...))
        }
    }
}
