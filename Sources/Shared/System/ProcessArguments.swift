internal import CStart

/// Returns the arguments of the process as the C runtime passed them, without the program name.
///
/// Swift's `CommandLine.arguments` is empty without `/proc`, or if a preloaded library has moved the environment: a
/// program would ignore its flags, and serve without the password that they name.
public func processArguments() -> [String] {
    (0..<CStart_argumentCount()).dropFirst().map { unsafe String(cString: CStart_argument($0)) }
}
