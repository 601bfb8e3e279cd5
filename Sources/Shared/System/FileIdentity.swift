internal import Glibc

/// Device and inode of a file, which identify it whatever its name and content.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    package init?(_ path: String) {
        guard let status = try? fileStatus(path) else { return nil }
        self.init(status)
    }
}
