internal import Glibc

/// A value that changes when a file is written or replaced.
public struct FileStamp: Sendable, Equatable {
    private let identity: FileIdentity
    private let size: Int64
    /// Nanoseconds. When the inode changed: that moves with the content as well, and no program can set it back.
    private let changedAt: Int64

    /// `nil` when the file cannot be looked at.
    public init?(_ path: String) {
        guard let status = fileStatus(path) else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        changedAt = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// The stamps of files by their paths. Returns in time: a file that does not respond is an error.
    public static func stamps(of paths: [String]) throws(SystemError) -> [String: FileStamp?] {
        try inTime(paths.joined(separator: " ")) { Dictionary(paths.map { ($0, FileStamp($0)) }) { $1 } }
    }
}
