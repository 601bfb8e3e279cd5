internal import Glibc

/// The C library's words for an `errno`, for example `No such file or directory`.
package func describe(errorNumber: Int32) -> String {
    // Safe from any thread since glibc 2.32.
    unsafe String(cString: strerror(errorNumber))
}
