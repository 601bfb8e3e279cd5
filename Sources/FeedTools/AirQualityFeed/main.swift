import CommandLine
import Glibc
import JQ
import System

openMissingStandardStreams()
let arguments = processArguments()
if arguments.first == JQWorker.command { exit(JQWorker.run(arguments.compactMap(\.self))) }
// Precedes every other thread, so that all of them inherit the blocked signals.
let signals = Signals(reloads: false)
returnFreedMemory()
let status = Program.feed.run(arguments, signals: signals) { flags in
    switch FeedCommand(rawValue: flags.command.name) {
    case .replay: try replay(flags, signals: signals)
    case .record: try record(flags, signals: signals)
    case .poll: try poll(flags, signals: signals)
    case .simulate, nil: try simulate(flags, signals: signals)
    }
    return 0
}
LogWriter.standardError.flush()
exit(status)
