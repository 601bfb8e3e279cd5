internal import Glibc

/// Which file a name stands for.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    let isRegular: Bool

    /// nil when there is no such file, or when it cannot be seen. Corresponds to `stat`.
    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        isRegular = status.st_mode & S_IFMT == S_IFREG
    }
}

/// Corresponds to `unlink`; a file that is not there is as good.
func removeFile(_ path: String) {
    _ = unsafe unlink(path)
}

/// Corresponds to `access`.
func mayWrite(_ path: String) -> Bool {
    unsafe access(path, W_OK) == 0
}

/// Without symbolic links, because SQLite's journals lie beside the file itself. Corresponds to `realpath`.
func resolved(_ path: String) -> String {
    guard let name = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
}
