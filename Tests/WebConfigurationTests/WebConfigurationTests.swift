import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

/// Files are checked by us and by `promtool check web-config`.
///
/// Debian's promtool has an older exporter-toolkit than the 0.17 that we follow. Rows in `newer` are about features
/// that it may not know: it then agrees with us on none of a feature's rows, and otherwise on all of them. promtool
/// 2.42, with toolkit 0.8, knows none of the features; 2.53 lacks the rate limit.
/// - inline PEM (`cert`, `key`, `client_ca`), `client_allowed_sans` and `rate_limit` are newer than 0.8;
/// - Go 1.22 took the suites without ECDHE (`TLS_RSA_…`) out of the list of those that may be configured.
@Suite struct WebConfigurationTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/web-config")
    static let promtool = "/usr/bin/promtool"

    /// A file's name without `.yml`, and our error after that name; `nil` if the file is accepted.
    typealias Row = (file: String, error: String?)
    enum Feature { case inlinePEM, subjectNames, suites, rateLimit }

    static let all = accepted.map { ($0, nil) } + rejected + stricter + newer.flatMap(\.value)

    static let accepted = [
        "empty", "comment", "null", "sections-null", "second-document", "flow-style", "anchors", "tls", "tls-ec",
        "tls-ed25519", "tls-pkcs1", "tls-chain", "tls-one-file", "tls-versions-only", "tls-all-versions",
        "tls-version-null", "tls-ciphers", "tls-ciphers-empty", "tls-curves", "client-ca", "client-auth-without-ca",
        "client-auth-old-name", "client-auth-request", "client-auth-any", "http2-off", "headers", "header-blank",
        "header-two-lines", "users", "users-variants", "users-and-tls", "users-two-spellings",
    ]

    static let rejected: [Row] = documents + certificates + choices + clientCertificates + http + users + rateLimits

    private static let documents: [Row] = [
        ("top-level-list", "line 1: the document is a list, expected a mapping"),
        ("top-level-text", "line 1: the document is ***, expected a mapping"),
        ("junk", "line 1: did not find expected node content"),
        ("not-utf8", "line 2: invalid leading UTF-8 octet"),
        ("unknown-section", "line 1: basic_auth is unknown, expected one of " + sections),
        ("unknown-tls-key", "line 4: \(tls).certificate is unknown, expected one of " + tlsKeys),
        ("unknown-http-key", "line 2: http_server_config.http3 is unknown, expected one of http2, headers"),
        ("unknown-rate-limit-key", "line 2: rate_limit.rate is unknown, expected one of interval, burst"),
        ("key-twice", "line 4: the key \"cert_file\" is given twice"),
        ("section-twice", "line 3: the key \"http_server_config\" is given twice"),
        ("section-is-list", "line 1: \(tls) is a list, expected a mapping"),
        ("section-is-text", "line 1: \(tls) is ***, expected a mapping"),
        ("merge-key-text", "line 2: \(mergeKeys)"),
        ("alias-unknown", "line 2: found undefined alias"),
        ("alias-inside-itself", "line 2: nested deeper than 8 levels"),
    ]

    private static let certificates: [Row] = [
        ("tls-inline-junk", "\(tls).cert cannot be served with key"),
        ("tls-cert-missing", noCertificate),
        ("tls-cert-empty", noCertificate),
        ("tls-key-missing", "\(tls) has neither key nor key_file"),
        ("tls-cert-no-file", "\(tls).cert_file: cannot read FOLDER/none.pem: No such file or directory"),
        ("tls-key-no-file", "\(tls).key_file: cannot read FOLDER/none.key: No such file or directory"),
        ("tls-name-is-number", "\(tls).cert_file: cannot read FOLDER/404: No such file or directory"),
        ("tls-cert-is-directory", "\(tls).cert_file: cannot read FOLDER/.: it is not a regular file"),
        ("tls-cert-empty-file", unserved("empty.pem", key: "server.key")),
        ("tls-cert-is-key", unserved("server.key", key: "server.key")),
        ("tls-chain-reversed", unserved("chain-reversed.pem", key: "server.key") + noMatch),
        ("tls-key-of-another", unserved("server.pem", key: "server-ec.key") + noMatch),
        ("tls-key-encrypted", unserved("server.pem", key: "server-encrypted.key")),
    ]

    private static let choices: [Row] = [
        ("tls-version-unknown", "line 4: \(tls).min_version is \"TLS14\", expected one of " + versions),
        ("tls-version-number", "line 4: \(tls).max_version is \"1.2\", expected one of " + versions),
        ("tls-version-lower-case", "line 4: \(tls).min_version is \"tls12\", expected one of " + versions),
        (
            "tls-cipher-unknown",
            suite(1, line: 6, "TLS_ECDHE_RSA_WITH_AES_512_GCM_SHA512") + "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "
        ),
        ("tls-cipher-insecure", suite(0, line: 4, "TLS_RSA_WITH_3DES_EDE_CBC_SHA")),
        ("tls-ciphers-text", "line 4: \(tls).cipher_suites is \"TLS_AES_128_GCM_SHA256\", expected a list"),
        (
            "tls-curve-unknown",
            "line 4: \(tls).curve_preferences[0] is \"CurveP224\", "
                + "expected one of X25519, CurveP256, CurveP384, CurveP521"
        ),
        ("tls-prefer-text", "line 4: \(tls).prefer_server_cipher_suites is \"true\", expected true or false"),
    ]

    private static let clientCertificates: [Row] = [
        ("client-ca-without-policy", noPolicy),
        ("client-ca-no-client-cert", noPolicy),
        ("client-ca-no-file", "\(tls).client_ca_file: cannot read FOLDER/none.pem: No such file or directory"),
        (
            "client-auth-unknown",
            "line 4: \(tls).client_auth_type is \"RequireClientCertificate\", expected one of NoClientCert, "
                + "RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert"
        ),
        ("client-auth-only", noCertificate),
        ("client-sans-text", "line 4: \(tls).client_allowed_sans is \"prometheus.example.org\", expected a list"),
    ]

    private static let http: [Row] = [
        ("http2-text", "line 2: http_server_config.http2 is \"maybe\", expected true or false"),
        ("header-unknown", "line 3: \(headers).Server is unknown, expected one of " + names),
        ("header-lower-case", "line 3: \(headers).x-frame-options is unknown, expected one of " + names),
        ("header-frame-options", "line 3: \(frameOptions) is \"DENY\", expected deny or sameorigin"),
        ("header-frame-options-blank", "line 3: \(frameOptions) is \"\", expected deny or sameorigin"),
        ("header-is-list", "line 3: \(frameOptions) is a list, expected a string"),
        ("header-content-type-options", "line 3: \(headers).X-Content-Type-Options is \"sniff\", expected nosniff"),
        ("headers-list", "line 2: \(headers) is a list, expected a mapping"),
    ]

    private static let users: [Row] = [
        ("users-twice", "line 3: the key \"alice\" is given twice"),
        ("users-number-twice", "line 3: the key \"7\" is given twice"),
        ("users-plain-password", hash),
        ("users-null", hash),
        ("users-cost-low", hash),
        ("users-cost-text", hash),
        ("users-sha512", hash),
        ("users-list", "line 2: basic_auth_users is a list, expected a mapping"),
        ("users-hash-is-list", "line 2: basic_auth_users.alice is a list, expected a bcrypt hash"),
    ]

    private static let rateLimits: [Row] = [
        ("rate-limit-days", "line 2: rate_limit.interval is \"1d\", expected a duration such as 500ms, 30s or 1m30s"),
        ("rate-limit-burst-text", "line 3: rate_limit.burst is \"many\", expected a whole number"),
    ]

    /// Files that the toolkit accepts although no client could connect, or although our contract rejects them.
    static let stricter: [Row] = [
        ("merge-key", "line 2: \(mergeKeys)"),
        (
            "tls-versions-reversed",
            unserved("server.pem", key: "server.key")
                + "min_version, max_version and cipher_suites allow no TLS version for this certificate"
        ),
        ("client-ca-no-certificate", unreadable("ca-none.pem")),
        ("client-ca-one-broken", unreadable("ca-one-broken.pem")),
    ]

    static let newer: [Feature: [Row]] = [
        .inlinePEM: [("tls-inline", nil), ("tls-inline-and-file", nil), ("client-ca-inline", nil)],
        .suites: [("tls-cipher-rsa", suite(0, line: 4, "TLS_RSA_WITH_AES_128_GCM_SHA256"))],
        .subjectNames: [("client-sans", nil), ("client-sans-optional", nil), ("client-sans-no-client-cert", nil)],
        .rateLimit: [("rate-limit", nil), ("rate-limit-off", nil), ("rate-limit-no-burst", nil)],
    ]

    private static let tls = "tls_server_config"
    private static let sections = "\(tls), http_server_config, basic_auth_users, rate_limit"
    private static let tlsKeys =
        "cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type, client_allowed_sans, "
        + "min_version, max_version, cipher_suites, curve_preferences, prefer_server_cipher_suites"
    private static let mergeKeys = "merge keys (<<) are not supported, expected the keys themselves"
    private static let noCertificate = "\(tls) has neither cert nor cert_file"
    private static let noMatch = "The certificate and the given key do not match"
    private static func unserved(_ certificate: String, key: String) -> String {
        "\(tls).cert_file (FOLDER/\(certificate)) cannot be served with key_file (FOLDER/\(key)): "
    }

    private static let versions = "TLS10, TLS11, TLS12, TLS13"
    private static func suite(_ number: Int, line: Int, _ name: String) -> String {
        "line \(line): \(tls).cipher_suites[\(number)] is \"\(name)\", expected one of "
    }

    private static let noPolicy =
        "\(tls).client_ca_file (FOLDER/ca.pem) is given, expected a client_auth_type other than NoClientCert with it"
    private static func unreadable(_ file: String) -> String {
        "\(tls).client_ca_file (FOLDER/\(file)) cannot be used: "
    }

    private static let headers = "http_server_config.headers"
    private static let frameOptions = "\(headers).X-Frame-Options"
    private static let names =
        "Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, "
        + "Strict-Transport-Security"
    private static let hash =
        "line 2: basic_auth_users.alice is ***, expected a bcrypt hash ($2y$…) with a cost of 4 to 31"

    static func path(_ file: String) -> String { folder.appending(path: file + ".yml").path }

    @Test(arguments: all) func `A file is accepted, or rejected with the reason`(_ row: Row) throws {
        let path = Self.path(row.file)
        do throws(SystemError) {
            _ = try WebConfiguration(file: path)
            #expect(row.error == nil)
        } catch {
            let expected = row.error?.replacing("FOLDER", with: Self.folder.path) ?? "no error"
            #expect(error.reason.hasPrefix("web configuration \(path): " + expected), "\(error)")
        }
    }

    @Test func `Every file of the fixtures is in the table`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".yml")
        }
        #expect(files.sorted() == Self.all.map { $0.file + ".yml" }.sorted())
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool), "\(promtool) is not installed"))
    func `Promtool accepts and rejects the same files`() throws {
        func accepts(_ file: String) throws -> Bool {
            try Subprocess([Self.promtool, "check", "web-config", Self.path(file)]).status == 0
        }
        for file in Self.accepted + Self.stricter.map(\.file) { #expect(try accepts(file), "\(file)") }
        for row in Self.rejected { #expect(try !accepts(row.file), "\(row.file)") }
        let isOldest = try Subprocess([Self.promtool, "--version"]).text.contains("version 2.42.")
        for (feature, rows) in Self.newer {
            let agreements = Set(try rows.map { try accepts($0.file) == ($0.error == nil) })
            #expect(isOldest ? agreements == [false] : agreements.count == 1, "\(feature)")
        }
    }
}

private let serverTLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"

/// The values that accepted files have.
@Suite struct WebConfigurationValueTests {
    static let pem = ["server.pem", "server.key", "server-ec.pem", "server-ec.key", "ca.pem", "ca-none.pem"]

    /// The files by their paths, as the configuration `conf/web.yml` finds them.
    let files: [String: [UInt8]]

    init() throws {
        var files: [String: [UInt8]] = [:]
        for name in Self.pem {
            files["conf/" + name] = try readFile(WebConfigurationTests.folder.path + "/" + name, limit: 1 << 20)
        }
        self.files = files
    }

    func read(_ text: String, path: String = "conf/web.yml") throws -> WebConfiguration {
        try WebConfiguration(text: Array(text.utf8), path: path) { (path) throws(SystemError) in
            guard let file = files[path] else { throw SystemError(.file, "no \(path)") }
            return file
        }
    }

    @Test func `The rules for client certificates are read`() throws {
        let configuration = try read(
            serverTLS + "  client_ca_file: ca.pem\n  client_auth_type: VerifyClientCertIfGiven\n"
                + "  client_allowed_sans: [é, 192.0.2.7]\n")
        let tls = try #require(configuration.tls)
        #expect(tls.clientAuthentication == .verifyIfGiven)
        #expect(tls.allowedSubjectAlternativeNames == [Array("é".utf8), Array("192.0.2.7".utf8)])
        #expect(configuration.warnings.isEmpty)
    }

    @Test(
        arguments: [
            ("", .none), ("NoClientCert", .none), ("RequestClientCert", .request),
            ("RequireAnyClientCert", .requireAny),
            ("RequireClientCert", .requireAny), ("VerifyClientCertIfGiven", .verifyIfGiven),
            ("RequireAndVerifyClientCert", .requireAndVerify),
        ] as [(String, TLSConfiguration.ClientAuthentication)])
    func `A client_auth_type maps to its policy`(name: String, expected: TLSConfiguration.ClientAuthentication) throws {
        #expect(try read(serverTLS + "  client_auth_type: \"\(name)\"\n").tls?.clientAuthentication == expected)
    }

    @Test func `Relative paths start at the directory of the file`() throws {
        let text = serverTLS.replacing("server.", with: "sub/server.")
        for (path, prefix) in [("web.yml", "sub/"), ("/etc/web.yml", "/etc/sub/"), ("./a/web.yml", "./a/sub/")] {
            let error = #expect(throws: SystemError.self) { try read(text, path: path) }
            #expect(error?.reason == "web configuration \(path): tls_server_config.cert_file: no \(prefix)server.pem")
        }
        let absolute = serverTLS.replacing("server.", with: "/abs/server.")
        let error = #expect(throws: SystemError.self) { try read(absolute) }
        #expect(error?.reason.hasSuffix("no /abs/server.pem") == true)
    }

    @Test func `PEM may be inline, and a file overrides it`() throws {
        let certificate = String(decoding: files["conf/server-ec.pem"]!, as: UTF8.self)
        let key = String(decoding: files["conf/server-ec.key"]!, as: UTF8.self)
        func indented(_ text: String) -> String { text.split(separator: "\n").map { "    \($0)\n" }.joined() }
        let text = "tls_server_config:\n  cert: |\n\(indented(certificate))  key: |\n\(indented(key))"
        #expect(try read(text).tls != nil)
        #expect(try read(text + "  cert_file: server.pem\n  key_file: server.key\n").tls != nil)
        // A file alone does not match the inline text of the other.
        for file in ["cert_file: server.pem", "key_file: server.key"] {
            #expect(throws: SystemError.self) { try read(text + "  \(file)\n") }
        }
        // A PEM text in place of the file's name, which an error would show.
        let error = #expect(throws: SystemError.self) { try read(text.replacing("  key:", with: "  key_file:")) }
        #expect(error?.reason.contains("key_file is ***, expected the name of a file; a PEM text belongs") == true)
    }

    @Test(
        arguments: [
            ("max-age=5", "max-age=5"), ("\" a \"", "a"), ("\"a\\r\\nSet-Cookie: b\"", "a  Set-Cookie: b"),
            ("\"a\\tb\\0c\"", "a b c"), ("\"\"", nil), ("\" \\n \"", nil), ("~", nil), ("7", "7"), ("é", "é"),
        ] as [(String, String?)])
    func `A header's value is made safe to send`(value: String, expected: String?) throws {
        let configuration = try read("http_server_config: {headers: {Strict-Transport-Security: \(value)}}\n")
        #expect(configuration.headers.map(\.value) == (expected.map { [$0] } ?? []))
    }

    @Test func `Headers of more than 4096 bytes are rejected`() throws {
        func read(_ count: Int, _ other: String = "") throws -> WebConfiguration {
            let value = String(repeating: "a", count: count)
            return try self.read("http_server_config: {headers: {\(other)Content-Security-Policy: \(value)}}\n")
        }
        #expect(try read(4096).headers.count == 1)
        #expect(throws: SystemError.self) { try read(4097) }
        #expect(throws: SystemError.self, "together") { try read(4096, "X-XSS-Protection: a, ") }
    }

    @Test func `Users are compared as bytes, not as Unicode`() throws {
        let hash = "$2y$04$uEla0/h5HncvF9CKy/fpCOJ/k0R/XaPmQlbP.NN2H4KzbzTJSiBEm"
        let users = try read("basic_auth_users: {\"\\u00e9\": \(hash), \"e\\u0301\": \(hash), 7: \(hash)}\n").users
        #expect(Set(users.keys) == [[0xC3, 0xA9], [0x65, 0xCC, 0x81], [0x37]])
        #expect(users.values.allSatisfy { $0 == BcryptHash(hash) })
    }

    @Test(
        arguments: [
            ("interval: 1.5s, burst: 20", .milliseconds(1500), 20), ("interval: 1m30s, burst: 16", .seconds(90), 16),
            ("interval: 1s", .seconds(1), 0), ("interval: 0, burst: 5", nil, 0), ("interval: ~, burst: ~", nil, 0),
            ("burst: 5", nil, 0),
        ] as [(String, Duration?, Int)])
    func `A rate limit has an interval and a burst`(text: String, interval: Duration?, burst: Int) throws {
        let limit = try read("rate_limit: {\(text)}\n").rateLimit
        #expect(limit?.interval == interval)
        #expect((limit?.burst ?? 0) == burst)
    }

    @Test(
        arguments: [
            (serverTLS, []),
            (
                serverTLS + "  client_allowed_sans: [a]\n",
                ["client_allowed_sans is ignored, because client_auth_type requests no certificate"]
            ),
            (
                serverTLS + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n",
                ["with these cipher_suites and this certificate, only TLS12 is spoken"]
            ),
            (
                serverTLS + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n",
                ["with these cipher_suites and this certificate, only TLS13 is spoken"]
            ),
            (
                "tls_server_config: {min_version: TLS13}",
                ["tls_server_config has no certificate, so this is plain HTTP"]
            ),
            ("tls_server_config:", []),
            ("rate_limit: {interval: 1s}", ["rate_limit.burst is 0, so every request is rejected"]),
        ])
    func `A configuration that is probably a mistake gives a warning`(text: String, expected: [String]) throws {
        #expect(try read(text).warnings == expected)
    }

    @Test func `Errors contain no secrets`() {
        for text in [
            "basic_auth_users: {alice: hunter2}", "basic_auth_users: {alice: !!int hunter2}",
            "tls_server_config: {key: !!int hunter2}", "tls_server_config: {cert: a, key: hunter2}",
            "tls_server_config: {key: !!binary hunter2}", "basic_auth_users: {alice: &a [hunter2]}",
        ] {
            let error = #expect(throws: SystemError.self) { try read(text) }
            #expect(error?.reason.contains("hunter2") == false, "\(error?.reason ?? "")")
        }
    }
}
