internal import Glibc

/// A value that changes when a file is written or replaced.
public struct FileStamp: Sendable, Equatable {
    private let identity: FileIdentity
    private let size: Int64
    /// `st_ctim` in nanoseconds: it changes with the content too, and no program can set it back.
    private let changedAt: Int64

    /// `nil` if `stat` fails, for example because the file is missing.
    public init?(_ path: String) {
        guard let status = try? fileStatus(path) else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        changedAt = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// Returns the stamps of files by path. A file that does not respond within 5 s is an error.
    public static func stamps(of paths: [String]) throws(SystemError) -> [String: FileStamp?] {
        try inTime(paths.joined(separator: " ")) { Dictionary(paths.map { ($0, FileStamp($0)) }) { $1 } }
    }
}
