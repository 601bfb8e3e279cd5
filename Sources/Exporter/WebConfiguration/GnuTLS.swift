package import CGnuTLS
package import System

/// Throws what GnuTLS says of a negative result.
package func checkGnuTLS(_ result: Int32) throws(SystemError) {
    guard result < 0 else { return }
    throw SystemError(.system, describe(gnuTLS: result))
}

/// Corresponds to `gnutls_strerror`, without the full stop.
package func describe(gnuTLS error: Int32) -> String {
    let text = unsafe String(cString: gnutls_strerror(error))
    return text.hasSuffix(".") ? String(text.dropLast()) : text
}

/// Lends the bytes as GnuTLS takes them; it only reads them.
package func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result {
    unsafe bytes.withUnsafeBufferPointer { bytes in
        let start = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
        var datum = unsafe gnutls_datum_t(data: start, size: UInt32(bytes.count))
        return unsafe body(&datum)
    }
}
