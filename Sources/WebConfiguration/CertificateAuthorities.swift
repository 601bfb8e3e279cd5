internal import CGnuTLS

/// The certificates of a PEM text that can be read, as PEM; nil when there is none. Other text is skipped, as Go skips
/// it where it reads a pool of authorities.
func readableCertificates(_ pem: [UInt8]) -> [UInt8]? {
    let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    let end = Array("-----END CERTIFICATE-----".utf8)
    var certificates: [UInt8] = []
    var rest = pem[...]
    while let start = rest.range(of: begin), let stop = rest[start.upperBound...].range(of: end) {
        let block = Array(rest[start.lowerBound..<stop.upperBound]) + [UInt8(ascii: "\n")]
        if isCertificate(block) { certificates += block }
        rest = rest[stop.upperBound...]
    }
    return certificates.isEmpty ? nil : certificates
}

/// Corresponds to `gnutls_x509_crt_import`.
private func isCertificate(_ pem: [UInt8]) -> Bool {
    var certificate: gnutls_x509_crt_t?
    guard unsafe gnutls_x509_crt_init(&certificate) >= 0 else { return false }
    defer { unsafe gnutls_x509_crt_deinit(certificate) }
    return unsafe withDatum(pem) { unsafe gnutls_x509_crt_import(certificate, $0, GNUTLS_X509_FMT_PEM) } >= 0
}
