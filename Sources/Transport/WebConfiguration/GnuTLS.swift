internal import CGnuTLS

/// Throws what GnuTLS says of a negative result.
func checkGnuTLS(_ result: Int32) throws(TransportError) {
    guard result < 0 else { return }
    let text = unsafe String(cString: gnutls_strerror(result))
    throw TransportError(.tls, text.hasSuffix(".") ? String(text.dropLast()) : text)
}

/// Lends the bytes as GnuTLS takes them; it only reads them.
func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result {
    unsafe bytes.withUnsafeBufferPointer { bytes in
        var datum = unsafe gnutls_datum_t(
            data: UnsafeMutablePointer(mutating: bytes.baseAddress), size: UInt32(bytes.count))
        return unsafe body(&datum)
    }
}
