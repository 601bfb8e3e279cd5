package import Glibc

/// Returns the status of a file or of a link itself; on failure `nil`, with `errno` set. Corresponds to `stat`/`lstat`.
package func fileStatus(_ path: String, followsLink: Bool = true) -> stat? {
    var status = stat()
    guard !path.utf8.contains(0), unsafe (followsLink ? stat : lstat)(path, &status) == 0 else { return nil }
    return status
}

/// Corresponds to `fstat`.
package func fileStatus(_ file: borrowing FileDescriptor) -> stat? {
    var status = stat()
    return unsafe fstat(file.number, &status) == 0 ? status : nil
}

extension stat {
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    package var isSocket: Bool { st_mode & S_IFMT == S_IFSOCK }
}

/// Resolves symbolic links; if the file does not exist, only merges leading slashes. Corresponds to `realpath`.
package func resolvedPath(_ path: String) -> String {
    guard let name = unsafe realpath(path, nil) else {
        return path.hasPrefix("/") ? "/" + path.drop { $0 == "/" } : path
    }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
}

/// Corresponds to `access`.
package func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

/// Removes a file, if there is one. Corresponds to `unlink`.
package func removeFile(_ path: String) { _ = unsafe unlink(path) }
