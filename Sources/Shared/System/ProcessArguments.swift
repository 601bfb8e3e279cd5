internal import CStart

/// The arguments that the process was started with, without its own name, as the C runtime passed them.
///
/// Swift's `CommandLine.arguments` is empty without `/proc`, or where a preloaded library has moved the environment: a
/// program would then run without its flags, and serve without the password that they name.
public func processArguments() -> [String] {
    (0..<CStart_argumentCount()).dropFirst().map { unsafe String(cString: CStart_argument($0)) }
}
