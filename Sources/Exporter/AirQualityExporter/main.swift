import CommandLine
import Glibc
import JQ
import System

openMissingStandardStreams()
let arguments = processArguments()
if arguments.first == JQWorker.command { exit(JQWorker.run(arguments.compactMap(\.self))) }
// Before any other thread exists, so that all of them inherit the blocked signals.
let signals = Signals(reloads: true)
returnFreedMemory()
let status = Program.exporter.run(arguments, signals: signals) { try perform($0, signals: signals) }
LogWriter.standardError.flush()
exit(status)
