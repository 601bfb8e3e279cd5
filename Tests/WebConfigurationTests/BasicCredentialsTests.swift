import Testing

@testable import WebConfiguration

@Suite struct BasicCredentialsTests {
    @Test(
        arguments: [
            ("Basic dXNlcjpwYXNz", ["user", "pass"]), ("basic dXNlcjpwYXNz", ["user", "pass"]),
            ("BASIC dXNlcjpwYXNz", ["user", "pass"]), ("Basic dXNlcjpwOmE6c3M=", ["user", "p:a:ss"]),
            ("Basic dXNlcjo=", ["user", ""]), ("Basic OnBhc3M=", ["", "pass"]), ("Basic Og==", ["", ""]),
            ("Basic dXNlcg==", nil), ("Basic", nil), ("Basic ", nil), ("", nil), ("Bearer dXNlcjpwYXNz", nil),
            ("Basic  dXNlcjpwYXNz", nil), ("Basic dXNlcjpwYXNz ", nil), ("BasicdXNlcjpwYXNz", nil),
            (" Basic dXNlcjpwYXNz", nil),
        ] as [(String, [String]?)])
    func `An Authorization header has user and password in Base64`(value: String, expected: [String]?) {
        let credentials = expected.map { BasicCredentials(user: Array($0[0].utf8), password: Array($0[1].utf8)) }
        #expect(BasicCredentials(authorization: value) == credentials)
    }

    @Test func `Bytes that are not UTF-8 are kept`() {
        let credentials = BasicCredentials(authorization: "Basic /zr+AA==")
        #expect(credentials == BasicCredentials(user: [0xFF], password: [0xFE, 0]))
    }
}
