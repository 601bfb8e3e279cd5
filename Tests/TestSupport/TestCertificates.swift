import Foundation

/// Certificates for one run of the tests, made with openssl.
public struct TestCertificates: Sendable {
    public let directory: TemporaryDirectory

    /// Made on first use; an error of openssl is thrown in every test.
    public static func shared() throws -> TestCertificates { try made.get() }

    private static let made = Result { try TestCertificates() }

    private init() throws {
        directory = TemporaryDirectory()
        try makeAuthority("ca")
        try makeAuthority("other-ca")
        let local = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        try makeCertificate("server", by: "ca", kind: "RSA", local)
        let names = "subjectAltName=DNS:prometheus.example.org"
        try makeCertificate("client", by: "ca", kind: "P-256", names)
        try makeCertificate("client-for-servers", by: "ca", kind: "P-256", "extendedKeyUsage=serverAuth\n\(names)")
        try makeCertificate("client-of-other", by: "other-ca", kind: "P-256", names)
        try makeCertificate("client-expired", by: "ca", kind: "P-256", names, until: "20200101000000Z")
    }

    public func path(_ name: String) -> String { directory.path + "/" + name }

    public func content(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Writes a copy of a certificate's key, encrypted with a pass phrase, to the test's own directory.
    public func encryptedKey(of name: String, in other: TemporaryDirectory) throws -> String {
        let file = other.file("\(name)-locked.key")
        try openssl("pkey", "-in", "\(name).key", "-aes256", "-passout", "pass:secret", "-out", file)
        return file
    }

    private func makeAuthority(_ name: String) throws {
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(name).key",
            "-subj", "/CN=\(name)", "-days", "36500", "-out", "\(name).pem")
        directory.write("\(name).txt", "")
        directory.write("\(name).txt.attr", "unique_subject = no")
        directory.write("\(name).serial", "01")
        directory.write(
            "\(name).cnf",
            """
            [ca]
            default_ca = this
            [this]
            database = \(name).txt
            serial = \(name).serial
            new_certs_dir = .
            certificate = \(name).pem
            private_key = \(name).key
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """)
    }

    private func makeCertificate(
        _ name: String, by authority: String, kind: String, _ extensions: String, until end: String = "21200101000000Z"
    ) throws {
        let algorithm = kind == "P-256" ? ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"] : [kind]
        try openssl(["genpkey", "-out", "\(name).key", "-algorithm"] + algorithm)
        try openssl("req", "-new", "-key", "\(name).key", "-subj", "/CN=\(name)", "-out", "\(name).csr")
        directory.write("\(name).ext", extensions + "\n")
        try openssl(
            "ca", "-batch", "-notext", "-config", "\(authority).cnf", "-extfile", "\(name).ext", "-startdate",
            "20190101000000Z", "-enddate", end, "-in", "\(name).csr", "-out", "\(name).pem")
    }

    private func openssl(_ arguments: String...) throws { try openssl(arguments) }

    private func openssl(_ arguments: [String]) throws {
        let run = try Subprocess(["openssl"] + arguments, in: directory.path)
        guard run.status == 0 else {
            throw OpenSSLError(description: "openssl \(arguments.joined(separator: " ")): \(run.errors)")
        }
    }
}

struct OpenSSLError: Error, CustomStringConvertible { let description: String }
