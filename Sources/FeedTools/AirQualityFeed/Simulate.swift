import AirQuality
import CommandLine
import FeedSimulation
import HTTPText
import System
import WebSocket

/// Serves the simulated feed until a signal arrives. It advances only while a client is connected, from the first step.
func simulate(_ flags: ParsedFlags, signals: Signals) throws {
    let options: SimulateOptions = try flags.options()
    _ = flags.beginLog()
    var simulator = FeedSimulator(
        cities: options.cities, coverage: options.coverage, seed: options.seed ?? .random(in: 0 ... .max),
        drift: options.drift, batch: options.batch, interval: options.interval)
    var feed = WebSocketServerConfiguration(address: options.listen)
    feed.headers = [HTTPField(name: FeedSource.fieldName, value: FeedSource.simulation)]
    let server = try flags.listening("listen") { try FeedServer(feed, signals: signals) }
    defer { server.stop() }
    var next = monotonicTime()
    while server.awaitClient(), server.wait(until: next) {
        guard server.hasClients else { continue }
        // After an absence of clients, the intervals begin anew.
        if next + options.interval < monotonicTime() { next = monotonicTime() }
        for message in simulator.nextMessages() { server.send(message) }
        // If a step takes longer than the interval, the next one follows at once; missed steps are not made up for.
        next = max(next + options.interval, monotonicTime())
    }
}
