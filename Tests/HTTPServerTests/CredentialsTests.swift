import Testing

@testable import HTTPServer

@Suite struct CredentialsTests {
    private func read(_ authorization: String) -> [[UInt8]]? {
        Credentials(authorization: authorization).map { [$0.user, $0.password] }
    }

    @Test(
        arguments: [
            ("Basic dXNlcjpwYXNz", ["user", "pass"]), ("basic dXNlcjpwYXNz", ["user", "pass"]),
            ("BASIC dXNlcjpwYXNz", ["user", "pass"]), ("Basic dXNlcjpwOmE6c3M=", ["user", "p:a:ss"]),
            ("Basic dXNlcjo=", ["user", ""]), ("Basic OnBhc3M=", ["", "pass"]), ("Basic Og==", ["", ""]),
            ("Basic dXNlcg==", nil), ("Basic", nil), ("Basic ", nil), ("", nil), ("Bearer dXNlcjpwYXNz", nil),
            ("Basic  dXNlcjpwYXNz", nil), ("Basic dXNlcjpwYXNz ", nil), ("BasicdXNlcjpwYXNz", nil),
            (" Basic dXNlcjpwYXNz", nil),
        ] as [(String, [String]?)])
    func `An Authorization header is parsed into user and password`(value: String, expected: [String]?) {
        #expect(read(value) == expected?.map { Array($0.utf8) })
    }

    @Test func `A user and a password need not be UTF-8`() {
        #expect(read("Basic /zr+AA==") == [[0xFF], [0xFE, 0]])
    }
}
