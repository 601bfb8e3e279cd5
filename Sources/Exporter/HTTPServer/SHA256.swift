internal import CGnuTLS

/// The SHA-256 digest, 32 bytes. Corresponds to `gnutls_hash_fast`.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let result = unsafe gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, bytes.count, &digest)
    precondition(result == 0, "GnuTLS always has SHA-256")
    return digest
}
