internal import Bytes
internal import Glibc

/// A failure outside the program: a file, a socket, a certificate, a configuration.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// A file cannot be read, or not completely.
        case file
        /// An address cannot be resolved, bound or reached.
        case address
        /// The peer violated the protocol or closed the connection early.
        case peer
        /// The content of a file or a response is invalid.
        case content
        /// A failure of the operating system or of a C library, or a limit of the system.
        case system
    }

    public let code: Code
    /// One human-readable line; control characters are replaced by blanks.
    public let reason: String

    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = onOneLine(reason)
    }

    public var description: String { reason }
}

/// Why a call of the C library failed. Read it at once, because any other call may change `errno`.
package struct ErrorNumber: Error, Sendable, Equatable, CustomStringConvertible {
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The error of the call that has just failed.
    package static var last: ErrorNumber { ErrorNumber(code: errno) }

    package var description: String { describe(errorNumber: code) }
}

/// Returns the C library's text for an `errno`, for example `No such file or directory`.
package func describe(errorNumber: Int32) -> String {
    // Safe from any thread since glibc 2.32.
    unsafe String(cString: strerror(errorNumber))
}
