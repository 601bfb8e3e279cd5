import CommandLine
import FeedOptions
import System

struct RecordOptions: Options {
    var output: String?
    var feed = FeedClientOptions()
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    init() { feed.prefix = "" }

    static let flags: [Flag<Self>] =
        [Flag("output", \.output, .file, "File to append to; standard output by default.")]
        + FeedClientOptions.flags.map { Flag($0, of: \.feed) } + [.logLevel(\.logLevel), .logFormat(\.logFormat)]
}
