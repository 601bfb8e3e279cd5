import CommandLine
import FeedSimulation
import System

struct SimulateOptions: Options {
    var listen = ListenAddress.localhost
    var cities = 12
    var interval = Duration.seconds(2)
    var coverage = 0.6
    var seed: UInt64?
    var drift = 0.0
    var batch = 10_000

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag(
            "cities", \.cities, .integer(in: 1...FeedSimulator.maximumCityCount), placeholder: "N",
            "Number of cities; the first twelve are those of the real feed."),
        Flag("interval", \.interval, .timeout, "Time between two steps."),
        Flag(
            "coverage", \.coverage, .number(in: 0...1), placeholder: "SHARE",
            "Probability that a step includes a city, 0 to 1."),
        Flag(
            "seed", \.seed, .integer(in: 0 ... .max), placeholder: "N",
            "Seed of the generator: the same seed gives the same messages; random by default."),
        Flag(
            "drift", \.drift, .number(in: 0...999), placeholder: "POINTS",
            "Maximum change of a city's mean index at each step."),
        Flag(
            "batch", \.batch, .integer(in: 1...FeedSimulator.maximumCityCount), placeholder: "N",
            "Maximum number of cities in a message; a step may need several messages."),
    ]
}
