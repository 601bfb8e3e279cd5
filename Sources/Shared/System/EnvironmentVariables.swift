internal import Glibc

/// All environment variables. Nothing in this process changes the environment.
public func environmentVariables() -> [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let line = unsafe next.pointee {
        let parts = unsafe String(cString: line).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        unsafe next += 1
    }
    return variables
}
