import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct PasswordChecksTests {
    private func credentials(_ password: String, user: String = "alice") -> Credentials {
        Credentials(user: Array(user.utf8), password: Array(password.utf8))
    }

    private func users(_ isRight: @escaping @Sendable (Credentials) -> Bool) -> HTTPAccess.Users {
        HTTPAccess.Users(hashes: [:], isRight: isRight)
    }

    private static let one: [UInt8] = [10, 0, 0, 1]
    private static let two: [UInt8] = [10, 0, 0, 2]

    @Test func `A verdict is remembered for its user and password`() {
        let asked = Mutex(0)
        let right = credentials("r")
        let users = users { credentials in
            asked.withLock { $0 += 1 }
            return credentials == right
        }
        let passwords = PasswordChecks()
        for _ in 0..<2 {
            #expect(passwords.verdict(on: right, among: users, of: Self.one) == true)
            #expect(passwords.verdict(on: credentials("w"), among: users, of: Self.two) == false)
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(passwords.verdict(on: credentials("r", user: "bob"), among: users, of: Self.one) == false)
        #expect(asked.withLock { $0 } == 3)
        let others = HTTPAccess.Users(hashes: [right.user: "another"]) { _ in false }
        #expect(passwords.verdict(on: right, among: others, of: Self.one) == false, "its hash is another now")
    }

    @Test func `Wrong guesses do not evict correct passwords`() {
        let right = credentials("r")
        let asked = Mutex<[Credentials]>([])
        let users = users { credentials in
            asked.withLock { $0.append(credentials) }
            return credentials == right
        }
        let passwords = PasswordChecks()
        #expect(passwords.verdict(on: right, among: users, of: Self.one) == true)
        for index in 0...HTTPLimits.rememberedPasswords {
            #expect(passwords.verdict(on: credentials("\(index)"), among: users, of: Self.one) == false)
        }
        #expect(passwords.verdict(on: right, among: users, of: Self.one) == true)
        #expect(passwords.verdict(on: credentials("0"), among: users, of: Self.one) == false)
        #expect(asked.withLock { $0.last } == credentials("0"), "evicted by the newest")
    }

    @Test func `At most one check per address and two in all run, in order of arrival`() throws {
        let gate = Gate()
        let state = Monitor<(order: [String], running: Int, most: Int)>(([], 0, 0))
        let users = users { credentials in
            state.change { state in
                state.order.append(String(decoding: credentials.password, as: UTF8.self))
                state.running += 1
                state.most = max(state.most, state.running)
            }
            gate.wait()
            state.change { $0.running -= 1 }
            return false
        }
        let passwords = PasswordChecks(patience: .zero)
        var threads: [ServiceThread] = []
        for client in 1...6 as ClosedRange<UInt8> {
            let guess = credentials("\(client)")
            threads.append(
                try ServiceThread(name: "check") { _ = passwords.verdict(on: guess, among: users, of: [client]) })
            eventually("the check is waiting") { passwords.waiting == Int(client) }
        }
        #expect(passwords.verdict(on: credentials("other"), among: users, of: [6]) == nil)
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
        let users = users { credentials in
            order.withLock { $0.append(String(decoding: credentials.password, as: UTF8.self)) }
            gate.wait()
            return true
        }
        let passwords = PasswordChecks(patience: .seconds(60))
        var threads: [ServiceThread] = []
        func ask(_ password: String, of client: [UInt8]) throws {
            let guess = credentials(password)
            threads.append(
                try ServiceThread(name: "check") { _ = passwords.verdict(on: guess, among: users, of: client) })
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
}
