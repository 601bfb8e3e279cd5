import CommandLine
import FeedSimulation
import System

/// Serves the simulated feed until a signal comes.
///
/// Steps are made only while somebody listens: the first client hears the first step of the seed, at once.
func simulate(_ flags: ParsedFlags, signals: Signals) throws {
    let interval = try flags.value("interval", as: .interval)
    var simulator = FeedSimulator(
        cities: try flags.value("cities", as: .integer(in: 1...FeedSimulator.maximumCityCount)),
        coverage: try flags.value("coverage", as: .number(in: 0...1)),
        seed: try flags.optional("seed", as: .seed) ?? .random(in: 0 ... .max),
        drift: try flags.value("drift", as: .number(in: 0...999)),
        batch: try flags.value("batch", as: .integer(in: 1...FeedSimulator.maximumCityCount)))
    let server = try FeedServer(flags, signals: signals)
    defer { server.stop() }
    var next = monotonicTime()
    while server.awaitClient(), server.wait(until: next) {
        guard server.hasClients else { continue }
        simulator.nextStep { server.send($0) }
        // Steps that take longer than the interval follow each other without a rest, and are not made up for.
        next = max(next + interval, monotonicTime())
    }
}
