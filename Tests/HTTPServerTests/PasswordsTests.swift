import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

@Suite struct PasswordsTests {
    private func check(_ password: String, user: String = "alice") -> PasswordCheck {
        PasswordCheck(
            credentials: BasicCredentials(user: Array(user.utf8), password: Array(password.utf8)), hash: "h",
            highestCost: 4)
    }

    private static let one: [UInt8] = [10, 0, 0, 1]
    private static let two: [UInt8] = [10, 0, 0, 2]

    @Test func `Verdicts are remembered and asked once`() {
        let asked = Mutex(0)
        let right = check("r")
        let passwords = PasswordChecks { check in
            asked.withLock { $0 += 1 }
            return check == right
        }
        for _ in 0..<2 {
            #expect(passwords.verdict(on: check("r"), of: Self.one) == .right)
            #expect(passwords.verdict(on: check("w"), of: Self.two) == .wrong)
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(passwords.verdict(on: check("r", user: "bob"), of: Self.one) == .wrong)
        #expect(asked.withLock { $0 } == 3)
    }

    @Test func `Wrong guesses do not push out right passwords`() {
        let right = check("r")
        let asked = Mutex<[PasswordCheck]>([])
        let passwords = PasswordChecks { check in
            asked.withLock { $0.append(check) }
            return check == right
        }
        #expect(passwords.verdict(on: right, of: Self.one) == .right)
        for index in 0...PasswordChecks.maximumRemembered {
            #expect(passwords.verdict(on: check("\(index)"), of: Self.one) == .wrong)
        }
        #expect(passwords.verdict(on: right, of: Self.one) == .right)
        #expect(passwords.verdict(on: check("0"), of: Self.one) == .wrong)
        #expect(asked.withLock { $0.last } == check("0"), "pushed out by the newest")
    }

    @Test func `One check of an address and two in all are under way, in the order in which they came`() throws {
        let gate = Gate()
        let order = Mutex<[String]>([])
        let most = Mutex(0)
        let running = Mutex(0)
        let passwords = PasswordChecks { check in
            let now = running.withLock { running in
                running += 1
                return running
            }
            most.withLock { $0 = max($0, now) }
            order.withLock { $0.append(String(decoding: check.credentials.password, as: UTF8.self)) }
            gate.wait()
            running.withLock { $0 -= 1 }
            return false
        }
        var threads: [ServiceThread] = []
        for number in 1...6 as ClosedRange<UInt8> {
            let check = check("\(number)")
            threads.append(try ServiceThread(name: "check") { _ = passwords.verdict(on: check, of: [number]) })
            eventually("its turn") { passwords.waiting == Int(number) }
        }
        #expect(passwords.verdict(on: check("other"), of: [6]) == .busy)
        for _ in 1...6 {
            gate.open()
            usleep(20_000)
        }
        for thread in threads { thread.join() }
        #expect(most.withLock { $0 } == 2)
        #expect(order.withLock { $0 }.dropFirst(2) == ["3", "4", "5", "6"])
    }

    private static let quick = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
    private static let slow = "$2b$12$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

    private func active() throws -> ActiveWebConfiguration {
        var web = WebConfiguration()
        web.users = [Array("alice".utf8): Self.quick, Array("bob".utf8): Self.slow]
        return try ActiveWebConfiguration(web, replacing: nil)
    }

    /// The check of `user:password`.
    private func check(_ base64: String, _ active: ActiveWebConfiguration) throws -> PasswordCheck {
        try #require(active.passwordCheck(of: "Basic " + base64))
    }

    @Test(arguments: ["YWxpY2U6eA==", "Ym9iOng=", "bm9ib2R5Ong=", "YWxpY2U6"])
    func `A rejection takes as many rounds as the most expensive hash, for any user`(
        _ credentials: String
    ) throws {
        var rounds = 0
        let isRight = try check(credentials, active()).run { _, hash in
            rounds += 1 << (Bcrypt.cost(of: hash) ?? 0)
            return false
        }
        #expect(!isRight && rounds == 1 << 12)
    }

    @Test func `A right password is one check`() throws {
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

    @Test func `A decoy is a hash of its cost`() {
        for cost in [4, 9, 10, 31] {
            #expect(
                Bcrypt.problem(of: Bcrypt.decoy(cost: cost)) == nil && Bcrypt.cost(of: Bcrypt.decoy(cost: cost)) == cost
            )
        }
        #expect(!Bcrypt.verify(password: Array("correct horse".utf8), hash: Bcrypt.decoy(cost: 4)))
    }
}
