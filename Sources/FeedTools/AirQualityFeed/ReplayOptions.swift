import CommandLine
import System

struct ReplayOptions: Options {
    var listen = ListenAddress.localhost
    var interval = Duration.seconds(2)
    var speed = 1.0
    var isOnce = false

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag(
            "interval", \.interval, .timeout,
            "Time between messages without a recorded time, and before the file is replayed again."),
        Flag(
            "speed", \.speed, .number(in: 0.001...1_000_000), placeholder: "FACTOR",
            "Factor by which recorded gaps are shortened."),
        Flag("once", \.isOnce, "Close with status 1000 at the end of the file and exit."),
    ]
}
