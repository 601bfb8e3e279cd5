import Testing

@testable import WebConfiguration

@Suite struct BcryptHashTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var password: [UInt8]
        var hash: String
        var verifies = false
        /// Whether a web configuration takes it.
        var isTaken = true
        var testDescription: String { name }

        init(_ name: String, _ password: String, _ hash: String, verifies: Bool = false, isTaken: Bool = true) {
            self.init(name, Array(password.utf8), hash, verifies: verifies, isTaken: isTaken)
        }

        init(_ name: String, _ password: [UInt8], _ hash: String, verifies: Bool = false, isTaken: Bool = true) {
            self.name = name
            self.password = password
            self.hash = hash
            self.verifies = verifies
            self.isTaken = isTaken
        }

        /// Salt and digest of "secret", cost 4.
        static let secret = "uEla0/h5HncvF9CKy/fpCOJ/k0R/XaPmQlbP.NN2H4KzbzTJSiBEm"

        // The hashes and their judgement were computed with golang.org/x/crypto/bcrypt, which also takes a version 1, a
        // cost with a sign, any byte behind the cost, and a digest that is cut.
        static let all = [
            Case("2a", "secret", "$2a$04$" + secret, verifies: true),
            Case("2b", "secret", "$2b$04$" + secret, verifies: true),
            Case("2y", "secret", "$2y$04$" + secret, verifies: true),
            Case("2x", "secret", "$2x$04$" + secret, verifies: true),
            Case("no letter", "secret", "$2$04$" + secret, verifies: true),
            Case("version 1", "secret", "$1a$04$" + secret, isTaken: false),
            Case("text behind the digest", "secret", "$2y$04$" + secret + "\n", verifies: true),
            Case("cost with a sign", "secret", "$2y$+4$" + secret, isTaken: false),
            Case("no $ behind the cost", "secret", "$2y$04x" + secret),
            Case("wrong password", "Secret", "$2y$04$" + secret),
            Case("longer password", "secret ", "$2y$04$" + secret),
            Case("password with a NUL", "secret\0", "$2y$04$" + secret),
            Case("wrong digest", "secret", "$2y$04$" + secret.dropLast() + "n"),
            Case("digest cut", "secret", "$2y$04$" + secret.dropLast(), isTaken: false),
            Case("bad character in the salt", "secret", "$2y$04$!" + secret.dropFirst()),
            Case("bad character in the digest", "secret", "$2y$04$" + secret.dropLast() + "!"),
            Case("empty password", "", "$2a$04$YouuC3zgB83Q3J0fsuZ4Guje49245aZXVAIt2pBklIhzHUIv8XmCK", verifies: true),
            Case(
                "not UTF-8", [0xFF, 0xFE], "$2a$04$HDg3.G6Z2QvA9nOEaMJ/9eL7mzpf8OqlDdqLuE/0vapxrlKpPnrnW",
                verifies: true),
            Case(
                "not ASCII", "pässwörd", "$2a$04$AvX4rGdS38w2ee83Gqc.D.jd2oPqk21MKC2xY0c4NzEJV8T0OjgUS", verifies: true),
            Case(
                "71 bytes", String(repeating: "a", count: 71),
                "$2a$04$O6uyZ2raX.JfT1uqep5fsu1PY8ycYemvZDskorN0X8XX.R.h7lgoq", verifies: true),
            Case(
                "72 bytes", String(repeating: "a", count: 72),
                "$2a$04$MXxj.6Z1im9lVgsYD.bFxONeKDD3eFVYudshwVJ3UkYopXCG3A04e", verifies: true),
            Case(
                "80 bytes", String(repeating: "a", count: 80),
                "$2a$04$2ZboUq6c5Euj9W0VYLE/JOjAe.0FfTbY46zAl0P.a47EpbmMkqa02", verifies: true),
            Case(
                "600 bytes", String(repeating: "a", count: 600),
                "$2a$04$2ZboUq6c5Euj9W0VYLE/JOjAe.0FfTbY46zAl0P.a47EpbmMkqa02", verifies: true),
            Case("empty hash", "secret", "", isTaken: false),
            Case("58 bytes", "secret", "$2y$04$" + secret.dropLast(2), isTaken: false),
            Case("no $ at the start", "secret", "x2y$04$" + secret, isTaken: false),
            Case("version 3", "secret", "$3a$04$" + secret, isTaken: false),
            Case("cost is text", "secret", "$2y$ab$" + secret, isTaken: false),
            Case("cost 3", "secret", "$2y$03$" + secret, isTaken: false),
            Case("cost 32", "secret", "$2y$32$" + secret, isTaken: false),
            Case("not ASCII", "secret", "$2y$04$" + String(repeating: "ä", count: 30)),
        ]
    }

    @Test(arguments: Case.all) func `A hash is judged as Go judges it`(_ scenario: Case) {
        let hash = BcryptHash(scenario.hash)
        #expect((hash != nil) == scenario.isTaken)
        #expect((hash?.isHash(of: scenario.password) ?? false) == scenario.verifies)
    }

    @Test(arguments: [4, 9, 10, 31]) func `A decoy has its cost`(_ cost: Int) {
        #expect(BcryptHash.decoy(cost: cost).cost == cost)
        #expect(cost > 4 || !BcryptHash.decoy(cost: cost).isHash(of: Array("correct horse".utf8)))
    }
}
