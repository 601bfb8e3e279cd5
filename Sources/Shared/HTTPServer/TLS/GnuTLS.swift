internal import CGnuTLS
internal import System

/// Throws GnuTLS's message for a negative result, without its full stop. Corresponds to `gnutls_strerror`.
func checkGnuTLS(_ result: Int32) throws(SystemError) {
    if result >= 0 { return }
    let text = unsafe String(cString: gnutls_strerror(result))
    throw SystemError(.system, text.hasSuffix(".") ? String(text.dropLast()) : text)
}

/// Calls the closure with the bytes as a datum, which GnuTLS only reads.
func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result {
    unsafe bytes.withUnsafeBufferPointer { bytes in
        let start = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        var datum = unsafe gnutls_datum_t(data: start, size: UInt32(bytes.count))
        return unsafe body(&datum)
    }
}
