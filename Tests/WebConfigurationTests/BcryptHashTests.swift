import Testing

@testable import WebConfiguration

@Suite struct BcryptHashTests {
    /// Salt and digest of "secret", cost 4.
    private static let secret = "uEla0/h5HncvF9CKy/fpCOJ/k0R/XaPmQlbP.NN2H4KzbzTJSiBEm"

    /// The verdict of Go's golang.org/x/crypto/bcrypt on a password and a hash. Go also accepts a version 1, a cost
    /// with a sign, any byte after the cost, and a digest that is cut off.
    enum Verdict { case right, wrong, notTaken }

    @Test(
        arguments: [
            ("2a", "secret", "$2a$04$" + secret, .right),
            ("2b", "secret", "$2b$04$" + secret, .right),
            ("2y", "secret", "$2y$04$" + secret, .right),
            ("2x", "secret", "$2x$04$" + secret, .right),
            ("no letter", "secret", "$2$04$" + secret, .right),
            ("version 1", "secret", "$1a$04$" + secret, .notTaken),
            ("text after the digest", "secret", "$2y$04$" + secret + "\n", .right),
            ("cost with a sign", "secret", "$2y$+4$" + secret, .notTaken),
            ("no $ after the cost", "secret", "$2y$04x" + secret, .wrong),
            ("wrong password", "Secret", "$2y$04$" + secret, .wrong),
            ("longer password", "secret ", "$2y$04$" + secret, .wrong),
            ("password with a NUL", "secret\0", "$2y$04$" + secret, .wrong),
            ("wrong digest", "secret", "$2y$04$" + secret.dropLast() + "n", .wrong),
            ("digest cut", "secret", "$2y$04$" + secret.dropLast(), .notTaken),
            ("bad character in the salt", "secret", "$2y$04$!" + secret.dropFirst(), .wrong),
            ("bad character in the digest", "secret", "$2y$04$" + secret.dropLast() + "!", .wrong),
            ("empty password", "", "$2a$04$YouuC3zgB83Q3J0fsuZ4Guje49245aZXVAIt2pBklIhzHUIv8XmCK", .right),
            ("not ASCII", "pässwörd", "$2a$04$AvX4rGdS38w2ee83Gqc.D.jd2oPqk21MKC2xY0c4NzEJV8T0OjgUS", .right),
            (
                "71 bytes", String(repeating: "a", count: 71),
                "$2a$04$O6uyZ2raX.JfT1uqep5fsu1PY8ycYemvZDskorN0X8XX.R.h7lgoq", .right
            ),
            (
                "72 bytes", String(repeating: "a", count: 72),
                "$2a$04$MXxj.6Z1im9lVgsYD.bFxONeKDD3eFVYudshwVJ3UkYopXCG3A04e", .right
            ),
            (
                "80 bytes", String(repeating: "a", count: 80),
                "$2a$04$2ZboUq6c5Euj9W0VYLE/JOjAe.0FfTbY46zAl0P.a47EpbmMkqa02", .right
            ),
            (
                "600 bytes", String(repeating: "a", count: 600),
                "$2a$04$2ZboUq6c5Euj9W0VYLE/JOjAe.0FfTbY46zAl0P.a47EpbmMkqa02", .right
            ),
            ("empty hash", "secret", "", .notTaken),
            ("58 bytes", "secret", "$2y$04$" + secret.dropLast(2), .notTaken),
            ("no $ at the start", "secret", "x2y$04$" + secret, .notTaken),
            ("version 3", "secret", "$3a$04$" + secret, .notTaken),
            ("cost is text", "secret", "$2y$ab$" + secret, .notTaken),
            ("cost 3", "secret", "$2y$03$" + secret, .notTaken),
            ("cost 32", "secret", "$2y$32$" + secret, .notTaken),
            ("not ASCII", "secret", "$2y$04$" + String(repeating: "ä", count: 30), .wrong),
        ] as [(String, String, String, Verdict)])
    func `A hash is checked as Go checks it`(name: String, password: String, hash: String, verdict: Verdict) {
        let bcrypt = BcryptHash(hash)
        #expect((bcrypt != nil) == (verdict != .notTaken))
        #expect((bcrypt?.isHash(of: Array(password.utf8)) ?? false) == (verdict == .right))
    }

    @Test func `A password need not be UTF-8`() {
        let hash = BcryptHash("$2a$04$HDg3.G6Z2QvA9nOEaMJ/9eL7mzpf8OqlDdqLuE/0vapxrlKpPnrnW")
        #expect(hash?.isHash(of: [0xFF, 0xFE]) == true)
    }

    @Test(arguments: [4, 9, 10, 31]) func `A decoy has the given cost`(_ cost: Int) {
        #expect(BcryptHash.decoy(cost: cost).cost == cost)
        #expect(cost > 4 || !BcryptHash.decoy(cost: cost).isHash(of: Array("correct horse".utf8)))
    }
}
