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
            user: Array(user.utf8), password: Array(password.utf8), hash: .decoy(cost: 4), highestCost: 4)
    }

    private static let one: [UInt8] = [10, 0, 0, 1]
    private static let two: [UInt8] = [10, 0, 0, 2]

    @Test func `A verdict is remembered for its user and password`() {
        let asked = Mutex(0)
        let right = check("r")
        let passwords = PasswordChecks { check in
            asked.withLock { $0 += 1 }
            return check == right
        }
        for _ in 0..<2 {
            #expect(passwords.verdict(on: check("r"), of: Self.one) == true)
            #expect(passwords.verdict(on: check("w"), of: Self.two) == false)
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(passwords.verdict(on: check("r", user: "bob"), of: Self.one) == false)
        #expect(asked.withLock { $0 } == 3)
    }

    @Test func `Wrong guesses do not evict correct passwords`() {
        let right = check("r")
        let asked = Mutex<[PasswordCheck]>([])
        let passwords = PasswordChecks { check in
            asked.withLock { $0.append(check) }
            return check == right
        }
        #expect(passwords.verdict(on: right, of: Self.one) == true)
        for index in 0...PasswordChecks.maximumRemembered {
            #expect(passwords.verdict(on: check("\(index)"), of: Self.one) == false)
        }
        #expect(passwords.verdict(on: right, of: Self.one) == true)
        #expect(passwords.verdict(on: check("0"), of: Self.one) == false)
        #expect(asked.withLock { $0.last } == check("0"), "evicted by the newest")
    }

    @Test func `At most one check per address and two in all run, in order of arrival`() throws {
        let gate = Gate()
        let state = Monitor<(order: [String], running: Int, most: Int)>(([], 0, 0))
        let passwords = PasswordChecks(patience: .zero) { check in
            state.change { state in
                state.order.append(String(decoding: check.password, as: UTF8.self))
                state.running += 1
                state.most = max(state.most, state.running)
            }
            gate.wait()
            state.change { $0.running -= 1 }
            return false
        }
        var threads: [ServiceThread] = []
        for number in 1...6 as ClosedRange<UInt8> {
            let check = check("\(number)")
            threads.append(try ServiceThread(name: "check") { _ = passwords.verdict(on: check, of: [number]) })
            eventually("the check is waiting") { passwords.waiting == Int(number) }
        }
        #expect(passwords.verdict(on: check("other"), of: [6]) == nil)
        for _ in 1...6 {
            gate.open()
            usleep(20_000)
        }
        for thread in threads { thread.join() }
        #expect(state.read(\.most) == 2 && state.read(\.order).dropFirst(2) == ["3", "4", "5", "6"])
    }

    @Test func `Password checks of one address run in sequence, and addresses take turns`() throws {
        let gate = Gate()
        let order = Mutex<[String]>([])
        let passwords = PasswordChecks(patience: .seconds(60)) { check in
            order.withLock { $0.append(String(decoding: check.password, as: UTF8.self)) }
            gate.wait()
            return true
        }
        var threads: [ServiceThread] = []
        func ask(_ password: String, of client: [UInt8]) throws {
            let check = check(password)
            threads.append(try ServiceThread(name: "check") { _ = passwords.verdict(on: check, of: client) })
        }
        try ask("first", of: Self.one)
        eventually("the turn of the first") { order.withLock { $0 } == ["first"] }
        for _ in 0..<3 { try ask("second", of: Self.one) }
        try ask("other", of: Self.two)
        eventually("the turn of the other") { order.withLock { $0 } == ["first", "other"] }
        #expect(passwords.waiting == 2)
        // The three equal passwords are one check.
        for _ in 0..<3 { gate.open() }
        for thread in threads { thread.join() }
        #expect(order.withLock { $0 } == ["first", "other", "second"])
    }

    private static let quick = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
    private static let slow = "$2b$12$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

    /// The check of `user:password`.
    private func check(base64: String) throws -> PasswordCheck {
        let users = [
            Array("alice".utf8): try #require(BcryptHash(Self.quick)),
            Array("bob".utf8): try #require(BcryptHash(Self.slow)),
        ]
        return try #require(PasswordCheck(authorization: "Basic " + base64, users: users))
    }

    @Test(arguments: ["YWxpY2U6eA==", "Ym9iOng=", "bm9ib2R5Ong=", "YWxpY2U6"])
    func `A rejection takes as many rounds as the most expensive hash, for any user`(_ credentials: String) throws {
        var rounds = 0
        let isRight = try check(base64: credentials).run { hash, _ in
            rounds += 1 << hash.cost
            return false
        }
        #expect(!isRight && rounds == 1 << 12)
    }

    @Test func `A correct password takes one check, and an unknown user is rejected`() throws {
        // "alice:correct horse", "nobody:correct horse"
        var hashes: [BcryptHash] = []
        #expect(
            try check(base64: "YWxpY2U6Y29ycmVjdCBob3JzZQ==").run { hash, _ in
                hashes.append(hash)
                return true
            })
        #expect(try hashes == [#require(BcryptHash(Self.quick))])
        #expect(try check(base64: "YWxpY2U6Y29ycmVjdCBob3JzZQ==").run())
        #expect(try !check(base64: "bm9ib2R5OmNvcnJlY3QgaG9yc2U=").run { _, _ in true })
    }
}
