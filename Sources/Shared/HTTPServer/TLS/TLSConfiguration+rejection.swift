internal import CGnuTLS
internal import System

extension TLSConfiguration {
    /// Returns why a client is rejected with the certificates that it sent, if any; `nil` if it is accepted.
    func rejection(of session: gnutls_session_t) -> String? {
        var count: UInt32 = 0
        guard let certificates = unsafe gnutls_certificate_get_peers(session, &count), count > 0 else {
            return requiresClientCertificate ? "no client certificate" : nil
        }
        let mustVerify = [.verifyIfGiven, .requireAndVerify].contains(clientAuthentication)
        if mustVerify, let rejection = unsafe rejectionByAuthorities(session) { return rejection }
        guard let allowedNames = allowedSubjectAlternativeNames,
            unsafe !subjectAlternativeNames(certificates).contains(where: allowedNames.contains)
        else { return nil }
        return "client certificate has none of the allowed names"
    }

    /// `nil` if signed by an authority, for clients, and valid now. Corresponds to `gnutls_certificate_verify_peers`.
    private func rejectionByAuthorities(_ session: gnutls_session_t) -> String? {
        var purpose = Array(GNUTLS_KP_TLS_WWW_CLIENT.utf8) + [0]
        var status: UInt32 = 0
        let result = unsafe purpose.withUnsafeMutableBufferPointer { purpose in
            var wanted = unsafe gnutls_typed_vdata_st(
                type: GNUTLS_DT_KEY_PURPOSE_OID, data: purpose.baseAddress, size: 0)
            return unsafe gnutls_certificate_verify_peers(session, &wanted, 1, &status)
        }
        if result >= 0, status == 0 { return nil }
        func has(_ flag: gnutls_certificate_status_t) -> Bool { result >= 0 && status & UInt32(flag.rawValue) != 0 }
        if has(GNUTLS_CERT_SIGNER_NOT_FOUND) { return "client certificate of an unknown authority" }
        let isOutOfTime = has(GNUTLS_CERT_EXPIRED) || has(GNUTLS_CERT_NOT_ACTIVATED)
        return isOutOfTime ? "client certificate expired or not yet valid" : "client certificate not valid for this use"
    }
}

/// Names in the first certificate, addresses as text. Corresponds to `gnutls_x509_crt_get_subject_alt_name2`.
private func subjectAlternativeNames(_ certificates: UnsafePointer<gnutls_datum_t>) -> [[UInt8]] {
    var certificate: gnutls_x509_crt_t?
    guard unsafe gnutls_x509_crt_init(&certificate) >= 0 else { return [] }
    defer { unsafe gnutls_x509_crt_deinit(certificate) }
    guard unsafe gnutls_x509_crt_import(certificate, certificates, GNUTLS_X509_FMT_DER) >= 0 else { return [] }
    var names: [[UInt8]] = []
    var index: UInt32 = 0
    while true {
        var name = [UInt8](repeating: 0, count: 4096)
        var count = name.count
        var kind: UInt32 = 0
        let result = unsafe gnutls_x509_crt_get_subject_alt_name2(certificate, index, &name, &count, &kind, nil)
        if result == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE { return names }
        index += 1
        // Names longer than the buffer are never allowed.
        guard result >= 0 else { continue }
        switch gnutls_x509_subject_alt_name_t(kind) {
        case GNUTLS_SAN_DNSNAME, GNUTLS_SAN_RFC822NAME, GNUTLS_SAN_URI: names.append(Array(name[..<count]))
        case GNUTLS_SAN_IPADDRESS: names.append(Array(IPAddress(bytes: Array(name[..<count])).description.utf8))
        default: break
        }
    }
}
