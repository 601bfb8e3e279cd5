import CommandLine
import Glibc
import System

// Before any other thread exists, so that all of them have the signals blocked.
let signals = Signals.block()
returnFreedMemory()
exit(run(arguments: Array(Swift.CommandLine.arguments.dropFirst()), signals: signals))
