internal import CGnuTLS
internal import Glibc
internal import System
internal import WebConfiguration

/// What a server says and asks in a TLS handshake: one for all connections that begin while it is in force.
///
/// libmicrohttpd makes the session and does the handshake, and this gives the session its certificate and its demands
/// when the connection begins, so a reload reaches each new connection and no old one.
@safe final class TLSContext: @unchecked Sendable {
    // @unchecked: GnuTLS only reads credentials and priorities once they are made, from any thread.
    private let credentials: CertificateCredentials
    private let priority: gnutls_priority_t
    private let clientAuthentication: TLSConfiguration.ClientAuthentication
    private let allowedNames: [[UInt8]]?

    /// - Throws: a `SystemError` in the words of GnuTLS.
    init(_ configuration: TLSConfiguration) throws(SystemError) {
        credentials = try CertificateCredentials()
        try credentials.load(certificate: configuration.certificate, key: configuration.key)
        if let authorities = configuration.clientCertificateAuthorities { try credentials.trust(authorities) }
        var priority: gnutls_priority_t?
        try unsafe checkGnuTLS(gnutls_priority_init(&priority, configuration.priority, nil))
        unsafe self.priority = priority!
        clientAuthentication = configuration.clientAuthentication
        allowedNames = configuration.allowedSubjectAlternativeNames
    }

    deinit {
        unsafe gnutls_priority_deinit(priority)
    }

    /// Puts this in the place of what the session has. The session must end before this does.
    func adopt(_ session: gnutls_session_t) {
        unsafe gnutls_priority_set(session, priority)
        unsafe credentials.adopt(session)
        unsafe gnutls_certificate_server_set_request(session, request)
        if clientAuthentication != .none {
            unsafe gnutls_session_set_verify_function(session, tlsVerify)
        }
    }

    /// Whoever must have a certain name must have a certificate.
    private var request: gnutls_certificate_request_t {
        switch clientAuthentication {
        case .none: GNUTLS_CERT_IGNORE
        case .request, .verifyIfGiven: allowedNames == nil ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_REQUIRE
        case .requireAny, .requireAndVerify: GNUTLS_CERT_REQUIRE
        }
    }

    /// Whether the client may come in with the certificates that it has sent.
    fileprivate func accepts(_ session: gnutls_session_t) -> Bool {
        var count: UInt32 = 0
        guard let certificates = unsafe gnutls_certificate_get_peers(session, &count), count > 0 else {
            return request == GNUTLS_CERT_REQUEST
        }
        switch clientAuthentication {
        case .none, .request, .requireAny: break
        case .verifyIfGiven, .requireAndVerify: guard unsafe isSigned(session) else { return false }
        }
        guard let allowedNames else { return true }
        return unsafe subjectAlternativeNames(certificates).contains { allowedNames.contains($0) }
    }

    /// By an authority, for clients, and in force today; corresponds to `gnutls_certificate_verify_peers`.
    private func isSigned(_ session: gnutls_session_t) -> Bool {
        var purpose = Array(GNUTLS_KP_TLS_WWW_CLIENT.utf8) + [0]
        var status: UInt32 = 0
        let result = unsafe purpose.withUnsafeMutableBufferPointer { purpose in
            var wanted = unsafe gnutls_typed_vdata_st(
                type: GNUTLS_DT_KEY_PURPOSE_OID, data: purpose.baseAddress, size: 0)
            return unsafe gnutls_certificate_verify_peers(session, &wanted, 1, &status)
        }
        return result >= 0 && status == 0
    }
}

/// Called by GnuTLS when a client's certificates have come, or none; anything but 0 ends the handshake.
@c(airquality_tls_verify)
func tlsVerify(session: gnutls_session_t?) -> Int32 {
    // libmicrohttpd makes its connection the session's pointer.
    guard let session = unsafe session, let connection = unsafe gnutls_session_get_ptr(session),
        let context = unsafe MHDConnection(OpaquePointer(connection))?.state?.tls, unsafe context.accepts(session)
    else { return GNUTLS_E_CERTIFICATE_ERROR }
    return 0
}

/// The names of the first certificate, addresses as text. Corresponds to `gnutls_x509_crt_get_subject_alt_name2`.
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
        // A name that is too long is none that is allowed.
        guard result >= 0 else { continue }
        switch gnutls_x509_subject_alt_name_t(kind) {
        case GNUTLS_SAN_DNSNAME, GNUTLS_SAN_RFC822NAME, GNUTLS_SAN_URI: names.append(Array(name[..<count]))
        case GNUTLS_SAN_IPADDRESS: names.append(addressText(Array(name[..<count])))
        default: break
        }
    }
}

/// The text of an address of 4 or 16 bytes, as Go writes it; corresponds to `inet_ntop`.
func addressText(_ address: [UInt8]) -> [UInt8] {
    // An IPv4 address in IPv6 is written as what it is.
    if address.count == 16, address.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
        return addressText(Array(address.suffix(4)))
    }
    guard address.count == 4 || address.count == 16 else { return [] }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(address.count == 4 ? AF_INET : AF_INET6, address, &text, socklen_t(text.count)) != nil
    else { return [] }
    return text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
}
