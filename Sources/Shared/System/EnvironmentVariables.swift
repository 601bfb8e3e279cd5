internal import Glibc

/// Returns all environment variables. Nothing in this process may change the environment.
public func environmentVariables() -> [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let line = unsafe next.pointee {
        let text = unsafe String(cString: line)
        if let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
            variables[String(text[..<sign])] = String(text[text.utf8.index(after: sign)...])
        }
        unsafe next += 1
    }
    return variables
}
