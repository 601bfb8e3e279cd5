package import Glibc

/// Returns the status of a file or of a link itself. Corresponds to `stat`/`lstat`.
package func fileStatus(_ path: String, followsLink: Bool = true) throws(ErrorNumber) -> stat {
    guard !path.utf8.contains(0) else { throw ErrorNumber(code: EINVAL) }
    var status = stat()
    guard unsafe (followsLink ? stat : lstat)(path, &status) == 0 else { throw .last }
    return status
}

/// Corresponds to `fstat`.
package func fileStatus(_ file: borrowing FileDescriptor) throws(ErrorNumber) -> stat {
    var status = stat()
    guard unsafe fstat(file.number, &status) == 0 else { throw .last }
    return status
}

extension stat {
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    package var isPipe: Bool { st_mode & S_IFMT == S_IFIFO }
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
