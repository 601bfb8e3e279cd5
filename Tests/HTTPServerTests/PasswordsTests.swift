import Synchronization
import Testing

@testable import HTTPServer
@testable import WebConfiguration

@Suite struct PasswordsTests {
    private func check(_ password: String, user: String = "alice") -> PasswordCheck {
        PasswordCheck(
            credentials: BasicCredentials(user: Array(user.utf8), password: Array(password.utf8)), hash: "h",
            highestCost: 4)
    }

    @Test func verdictsAreRememberedAndAskedOnce() {
        let asked = Mutex(0)
        let right = check("r")
        let passwords = PasswordVerdicts { check in
            asked.withLock { $0 += 1 }
            return check == right
        }
        #expect(passwords.known(check("r")) == nil)
        #expect(passwords.verdict(on: check("r")))
        #expect(!passwords.verdict(on: check("w")))
        #expect(passwords.known(check("r")) == true)
        #expect(passwords.known(check("w")) == false)
        #expect(passwords.known(check("r", user: "bob")) == nil)
        #expect(passwords.verdict(on: check("r")))
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func wrongGuessesDoNotPushOutRightPasswords() {
        let right = check("r")
        let passwords = PasswordVerdicts { $0 == right }
        #expect(passwords.verdict(on: right))
        for index in 0...PasswordVerdicts.maximumRemembered { #expect(!passwords.verdict(on: check("\(index)"))) }
        #expect(passwords.known(check("r")) == true)
        #expect(passwords.known(check("0")) == nil)
        #expect(passwords.known(check("1")) == false)
    }

    private static let quick = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
    private static let slow = "$2b$12$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

    private func active() throws -> ActiveWebConfiguration {
        var web = WebConfiguration()
        web.users = [Array("alice".utf8): Self.quick, Array("bob".utf8): Self.slow]
        return try ActiveWebConfiguration(web, replacing: nil)
    }

    /// Of `user:password`.
    private func check(_ base64: String, _ active: ActiveWebConfiguration) throws -> PasswordCheck {
        guard case .needsPassword(let check) = active.access(authorization: "Basic " + base64) else {
            throw Failure.isNone
        }
        return check
    }

    private enum Failure: Error { case isNone }

    /// The time of a refusal must not tell which users there are: it takes as many rounds as the most expensive hash,
    /// for each user and each password.
    @Test(arguments: ["YWxpY2U6eA==", "Ym9iOng=", "bm9ib2R5Ong=", "YWxpY2U6"]) func refusalsCostTheSame(
        _ credentials: String
    ) throws {
        var rounds = 0
        let isRight = try check(credentials, active()).run { _, hash in
            rounds += 1 << (Bcrypt.cost(of: hash) ?? 0)
            return false
        }
        #expect(!isRight && rounds == 1 << 12)
    }

    @Test func aRightPasswordIsOneCheck() throws {
        // "alice:correct horse", "nobody:correct horse"
        let active = try active()
        var hashes: [String] = []
        #expect(
            try check("YWxpY2U6Y29ycmVjdCBob3JzZQ==", active).run {
                hashes.append($1)
                return true
            })
        #expect(hashes == [Self.quick])
        #expect(try check("YWxpY2U6Y29ycmVjdCBob3JzZQ==", active).run())
        #expect(try !check("bm9ib2R5OmNvcnJlY3QgaG9yc2U=", active).run { _, _ in true })
    }

    @Test func aDecoyIsAHashOfItsCost() {
        for cost in [4, 9, 10, 31] {
            #expect(
                Bcrypt.problem(of: Bcrypt.decoy(cost: cost)) == nil && Bcrypt.cost(of: Bcrypt.decoy(cost: cost)) == cost
            )
        }
        #expect(!Bcrypt.verify(password: Array("correct horse".utf8), hash: Bcrypt.decoy(cost: 4)))
    }
}
