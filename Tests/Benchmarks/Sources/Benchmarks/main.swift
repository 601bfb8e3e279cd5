import AirQuality
import Bytes

// Without arguments: every benchmark, as a table. With a name and a number of cities: that one alone, a fixed number
// of times, for callgrind.
let arguments = CommandLine.arguments.dropFirst()
if let name = arguments.first {
    guard let cities = arguments.dropFirst().first.flatMap({ Int($0) }), let benchmark = Benchmark(rawValue: name)
    else {
        print("usage: Benchmarks [\(Benchmark.allCases.map(\.rawValue).joined(separator: "|")) CITIES]")
        throw UsageError()
    }
    benchmark.runOnce(cities: cities)
} else {
    printTable()
}

struct UsageError: Error {}

enum Benchmark: String, CaseIterable {
    /// Decodes messages: as nearly all feeds spell them, with names beyond ASCII, as JSON also allows, and of a kind that
    /// has no readings, which is parsed once as well.
    case decode
    case decodeNames = "decode-names"
    case decodeStrict = "decode-strict"
    case decodeUnread = "decode-unread"
    /// Decodes messages and records them in the store.
    case record
    /// Renders a page, and one after a tenth of the cities changed, including the copy that the change costs.
    case render
    case renderBusy = "render-busy"
    case history

    func runOnce(cities: Int) {
        let spelling: Spelling =
            switch self {
            case .decodeNames: .beyondASCII
            case .decodeStrict: .rare
            case .decodeUnread: .unread
            default: .usual
            }
        var work = Workload(cities: cities, batch: cities < 100 ? 8 : 100, messages: 100, spelling: spelling)
        _ = work.render()
        counted {
            switch self {
            case .decode, .decodeNames, .decodeStrict, .decodeUnread: work.decodeAll()
            case .record: for _ in 0..<10 { work.recordAll() }
            case .render: _ = work.render()
            case .renderBusy:
                for _ in 0..<20 {
                    work.recordNext(max(1, cities / 1000))
                    _ = work.render()
                }
            case .history: _ = work.history()
            }
        }
    }
}

/// The work that callgrind counts: its `--toggle-collect` finds this function by its name.
@inline(never)
func counted(_ work: () -> Void) {
    work()
}

func printTable() {
    print("| benchmark | 12 cities | 1,000 cities | 100,000 cities |")
    print("| --- | --- | --- | --- |")
    let sizes = [12, 1000, 100_000]
    for (batch, count) in [(8, 10_000), (100, 5000)] {
        row("decode and record, messages of \(batch), million readings/s", sizes) { cities in
            var work = Workload(cities: cities, batch: batch, messages: count)
            return Double(work.readingCount) / best(5) { work.recordAll() } / 1e6
        }
    }
    row("render, a tenth of the cities changed, µs", sizes) { cities in
        var work = Workload(cities: cities, batch: max(1, cities / 10), messages: 50)
        _ = work.render()
        return best(20, before: { work.recordNext(1) }, { _ = work.render() }) * 1e6
    }
    row("render, µs", sizes) { cities in
        var work = Workload(cities: cities, batch: 100, messages: 10)
        return best(cities > 10_000 ? 3 : 50) { _ = work.render() } * 1e6
    }
    row("history document, µs", sizes) { cities in
        let work = Workload(cities: cities, batch: 100, messages: 10)
        return best(cities > 10_000 ? 3 : 50) { _ = work.history() } * 1e6
    }
}

func row(_ name: String, _ sizes: [Int], _ figure: (Int) -> Double) {
    let cells = sizes.map { size in
        let figure = figure(size)
        return figure >= 100 ? "\(Int(figure.rounded()))" : "\((figure * 100).rounded() / 100)"
    }
    print("| \(name) | \(cells.joined(separator: " | ")) |")
}

/// The seconds of the fastest of several runs.
func best(_ runs: Int, before: () -> Void = {}, _ body: () -> Void) -> Double {
    var best = Double.infinity
    for _ in 0..<runs {
        before()
        let time = ContinuousClock().measure(body)
        best = min(best, Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18)
    }
    return best
}
