internal import Glibc

/// The one owner of an open file descriptor; closes it when it goes.
struct FileDescriptor: ~Copyable {
    let number: Int32

    init(owning number: Int32) {
        self.number = number
    }

    deinit {
        _ = close(number)
    }
}
