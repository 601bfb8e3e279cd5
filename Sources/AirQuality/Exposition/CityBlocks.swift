import JSON

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
    /// Where a block is written before its size is known.
    private var scratch: [UInt8] = []

    private struct Run: Sendable {
        /// The run's when its blocks were made; 0 before.
        var layoutVersion: UInt64 = 0
        /// By family.
        var blocks: [CityBlock] = []
    }

    private struct CityBlock: Sendable {
        var block = ExpositionBlock([])
        /// Where the samples of each city end.
        var ends: [UInt32] = []

        func end(_ position: Int) -> Int { position < 0 ? 0 : Int(ends[position]) }
    }

    private struct ChangedCity {
        /// In the run.
        let position: Int
        let city: Subject<CityState>
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
            var header: [UInt8] = []
            format.appendHeader(of: families[family].family, sampleByteCount: sampleByteCount, to: &header)
            return ExpositionBlock(header)
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
                runs[number] = Run(
                    layoutVersion: run.layoutVersion, blocks: Array(repeating: CityBlock(), count: families.count))
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
        let withReading = run.cities.indices.filter { snapshot.states.version(of: Int(run.cities[$0])) > version }.map {
            ChangedCity(position: $0, city: snapshot.city(Int(run.cities[$0])))
        }
        guard !withReading.isEmpty else { return }
        let withCategory = version == 0 ? withReading : withReading.filter { $0.city.source.categoryVersion > version }
        for (index, family) in families.enumerated() {
            let changed = family.change == .reading ? withReading : withCategory
            guard !changed.isEmpty else { continue }
            runs[number].blocks[index] = block(
                of: family, changed, run, snapshot, replacing: runs[number].blocks[index], format)
        }
    }

    private mutating func block(
        of family: CityFamily, _ changed: [ChangedCity], _ run: CityPage, _ snapshot: StoreSnapshot,
        replacing old: CityBlock, _ format: ExpositionFormat
    ) -> CityBlock {
        let oldBytes = old.block.bytes
        scratch.removeAll(keepingCapacity: true)
        var new = CityBlock()
        new.ends.reserveCapacity(run.cities.count)
        func copy(upTo position: Int) {
            let cities = new.ends.count..<position
            guard !cities.isEmpty else { return }
            let range = old.end(cities.lowerBound - 1)..<old.end(position - 1)
            let shift = scratch.count - range.lowerBound
            scratch.append(oldBytes.span.extracting(range))
            for position in cities { new.ends.append(UInt32(old.end(position) + shift)) }
        }
        switch family.samples {
        case .state(let samples):
            for changed in changed {
                copy(upTo: changed.position)
                format.appendSamples(of: samples, changed.city, to: &scratch)
                new.ends.append(UInt32(scratch.count))
            }
        case .concentrations(let samples):
            for changed in changed {
                copy(upTo: changed.position)
                let values = snapshot.concentrations[Int(run.cities[changed.position])]
                format.appendSamples(
                    of: samples, Subject(label: changed.city.label, source: values), to: &scratch)
                new.ends.append(UInt32(scratch.count))
            }
        }
        copy(upTo: run.cities.count)
        // Not the scratch itself, which has room for the longest block that there was.
        new.block = ExpositionBlock([UInt8](capacity: scratch.count) { $0.append(copying: scratch.span) })
        return new
    }
}

extension StoreSnapshot {
    fileprivate func city(_ city: Int) -> Subject<CityState> {
        let state = states[city]
        return Subject(label: LabelValue(Array(names.bytes[state.nameRange])), source: state)
    }
}
