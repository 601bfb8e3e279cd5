import Glibc
import TestSupport

/// Memory that can be mounted as a disk of its own: to fill it, to make it read-only, to take it away. Needs root.
final class MountedDisk: Sendable {
    let directory = TemporaryDirectory()

    /// nil where mounting is not allowed.
    init?(kibibytes: Int) {
        guard unsafe mount("tmpfs", directory.path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { return nil }
    }

    deinit { unmount() }

    func resize(kibibytes: Int) {
        precondition(unsafe mount("tmpfs", directory.path, "tmpfs", UInt(MS_REMOUNT), "size=\(kibibytes)k") == 0)
    }

    func setReadOnly(_ isReadOnly: Bool) {
        let flags = MS_REMOUNT | (isReadOnly ? MS_RDONLY : 0)
        precondition(unsafe mount("tmpfs", directory.path, "tmpfs", UInt(flags), nil) == 0)
    }

    func unmount() { unsafe umount2(directory.path, Int32(MNT_DETACH)) }

    static let isAllowed = MountedDisk(kibibytes: 64) != nil
}

func contents(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe fopen(path, "w")!
    unsafe fwrite(bytes, 1, bytes.count, file)
    unsafe fclose(file)
}
