/// An immutable part of the exposition. New content always means a new object, so a cache can use the block's
/// identity as its key.
public final class ExpositionBlock: Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The samples of the cities: a block for each family and each run of cities in the store's order, rendered anew when one
/// of its cities has changed.
struct CityBlocks: Sendable {
    private let families: [CityFamily]
    private var runs: [RunBlocks] = []
    private var headers: [Cached<HeaderKey, ExpositionBlock>]
    /// The store's version when the blocks were last brought up to date, and the format of the headers.
    private var version: UInt64 = 0
    private var format = ExpositionFormat.text004

    private struct RunBlocks: Sendable {
        /// ``CityRun/layoutVersion`` of the run when these blocks were built; 0 if they never were.
        var layoutVersion: UInt64 = 0
        /// By family.
        var blocks: [ExpositionBlock] = []
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
                let block = runs[Int(sequence[index])].blocks[family]
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
            if run.cities.isEmpty {
                runs[number] = RunBlocks()
            } else if runs[number].layoutVersion != run.layoutVersion {
                let empty = Array(repeating: ExpositionBlock([]), count: families.count)
                runs[number] = RunBlocks(layoutVersion: run.layoutVersion, blocks: empty)
                render(number, run, snapshot, hasNewCategory: true)
            } else if run.cities.contains(where: { snapshot.states.version(of: Int($0)) > version }) {
                let hasNewCategory = run.cities.contains { snapshot.states[Int($0)].categoryVersion > version }
                render(number, run, snapshot, hasNewCategory: hasNewCategory)
            }
        }
        version = snapshot.version
    }

    /// - Parameter hasNewCategory: a city of the run has one; otherwise the families of categories stay as they are.
    private mutating func render(_ number: Int, _ run: CityRun, _ snapshot: StoreSnapshot, hasNewCategory: Bool) {
        let cities = run.cities.map { city in
            let state = snapshot.states[Int(city)]
            return (
                name: LabelValue(Array(snapshot.names[state.nameRange])),
                figures: CityFigures(state: state, extras: snapshot.extras[Int(city)])
            )
        }
        for (index, family) in families.enumerated() where hasNewCategory || family.change == .reading {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(runs[number].blocks[index].bytes.count + 256)
            for (name, figures) in cities {
                if format == .protobuf {
                    ProtobufExposition.appendSamples(of: family, city: name, figures, to: &bytes)
                } else {
                    TextExposition.appendSamples(of: family, city: name.escaped, figures, to: &bytes)
                }
            }
            runs[number].blocks[index] = ExpositionBlock(bytes)
        }
    }
}
