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

    private final class Holder: RequestLimit.Holder {
        let client: [UInt8]

        init(_ client: UInt8) { self.client = [10, 0, 0, client] }

        func lag(at now: Duration) -> Duration? { nil }
        func giveWay() {}
    }

    private static let one = Holder(1)
    private static let two = Holder(2)

    @Test func `A verdict is remembered for its user and password`() throws {
        let asked = Mutex(0)
        let right = credentials("r")
        let users = users { credentials in
            asked.withLock { $0 += 1 }
            return credentials == right
        }
        let passwords = PasswordChecks()
        for _ in 0..<2 {
            #expect(try passwords.verdict(on: right, among: users, for: Self.one) == true)
            #expect(try passwords.verdict(on: credentials("w"), among: users, for: Self.two) == false)
        }
        #expect(asked.withLock { $0 } == 2)
        #expect(try passwords.verdict(on: credentials("r", user: "bob"), among: users, for: Self.one) == false)
        #expect(asked.withLock { $0 } == 3)
        let others = HTTPAccess.Users(hashes: [right.user: "another"]) { _ in false }
        #expect(try passwords.verdict(on: right, among: others, for: Self.one) == false, "its hash is another now")
    }

    @Test func `Wrong guesses do not evict correct passwords`() throws {
        let right = credentials("r")
        let asked = Mutex<[Credentials]>([])
        let users = users { credentials in
            asked.withLock { $0.append(credentials) }
            return credentials == right
        }
        let passwords = PasswordChecks()
        #expect(try passwords.verdict(on: right, among: users, for: Self.one) == true)
        for index in 0...HTTPLimits.rememberedPasswords {
            #expect(try passwords.verdict(on: credentials("\(index)"), among: users, for: Self.one) == false)
        }
        #expect(try passwords.verdict(on: right, among: users, for: Self.one) == true)
        #expect(try passwords.verdict(on: credentials("0"), among: users, for: Self.one) == false)
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
                try ServiceThread(name: "check") {
                    _ = try? passwords.verdict(on: guess, among: users, for: Holder(client))
                })
            eventually("the check is waiting") { passwords.count == Int(client) }
        }
        let rejection = #expect(throws: HTTPResponse.Rejection.self) {
            try passwords.verdict(on: credentials("other"), among: users, for: Holder(6))
        }
        #expect(rejection?.response.status == 429)
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
        func ask(_ password: String, of client: Holder) throws {
            let guess = credentials(password)
            threads.append(
                try ServiceThread(name: "check") { _ = try? passwords.verdict(on: guess, among: users, for: client) })
        }
        try ask("first", of: Self.one)
        eventually("the turn of the first") { order.withLock { $0 } == ["first"] }
        for _ in 0..<3 { try ask("second", of: Self.one) }
        try ask("other", of: Self.two)
        eventually("the turn of the other") { order.withLock { $0 } == ["first", "other"] }
        eventually("the others wait") { passwords.count == 5 }
        // The three equal passwords are one check.
        for _ in 0..<3 { gate.open() }
        for thread in threads { thread.join() }
        #expect(order.withLock { $0 } == ["first", "other", "second"])
    }
}
