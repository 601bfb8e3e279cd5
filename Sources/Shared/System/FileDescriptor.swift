internal import Glibc

/// Sole owner of an open file descriptor; its `deinit` closes it.
package struct FileDescriptor: ~Copyable {
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    deinit { _ = close(number) }
}
