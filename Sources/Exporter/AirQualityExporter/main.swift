import CommandLine
import Glibc
import System

// Before any other thread exists, so that all of them have the signals blocked.
let signals = Signals.block()
returnFreedMemory()
let arguments = Array(Swift.CommandLine.arguments.dropFirst())
exit(run(arguments: arguments, environment: environmentVariables(), signals: signals))
