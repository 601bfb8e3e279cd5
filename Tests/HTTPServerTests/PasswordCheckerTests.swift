import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

@Suite struct PasswordCheckerTests {
    private func question(_ password: String, user: String = "alice", isKnown: Bool = true) -> CredentialCheck {
        CredentialCheck(
            credentials: BasicCredentials(user: Array(user.utf8), password: Array(password.utf8)), hash: "h",
            isKnownUser: isKnown)
    }

    /// Asks and waits for the reply.
    private func ask(_ checker: PasswordChecker, _ question: CredentialCheck) throws -> Bool? {
        let bell = SharedWakePipe()
        let answer = Mutex<Bool?>(nil)
        let isTaken = checker.submit(question) { reply in
            answer.withLock { $0 = reply }
            bell.wake()
        }
        #expect(isTaken)
        #expect(bell.wait())
        return answer.withLock { $0 }
    }

    @Test func answersAreRememberedAndAskedOnce() throws {
        let asked = Mutex(0)
        let checker = PasswordChecker { question in
            asked.withLock { $0 += 1 }
            return question.password == [UInt8(ascii: "r")]
        }
        #expect(checker.known(question("r")) == nil)
        #expect(try ask(checker, question("r")) == true)
        #expect(try ask(checker, question("w")) == false)
        #expect(checker.known(question("r")) == true)
        #expect(checker.known(question("w")) == false)
        #expect(checker.known(question("r", user: "bob")) == nil)
        #expect(try ask(checker, question("r")) == true)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func wrongGuessesDoNotPushOutRightPasswords() throws {
        let checker = PasswordChecker { $0.password == [UInt8(ascii: "r")] }
        #expect(try ask(checker, question("r")) == true)
        for index in 0...PasswordChecker.maximumRemembered { #expect(try ask(checker, question("\(index)")) == false) }
        #expect(checker.known(question("r")) == true)
        #expect(checker.known(question("0")) == nil)
        #expect(checker.known(question("1")) == false)
    }

    @Test func anUnknownUserIsRefusedWhateverThePassword() {
        let hash = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
        let credentials = BasicCredentials(user: [1], password: Array("correct horse".utf8))
        #expect(CredentialCheck(credentials: credentials, hash: hash, isKnownUser: true).run())
        #expect(!CredentialCheck(credentials: credentials, hash: hash, isKnownUser: false).run())
    }

    @Test func oneIsCheckedAtATimeAndFewMayWait() throws {
        let gate = SharedWakePipe()
        let running = Mutex((now: 0, most: 0))
        let checker = PasswordChecker { _ in
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            #expect(gate.wait())
            running.withLock { $0.now -= 1 }
            return true
        }
        let replies = Mutex<[Bool?]>([])
        let reply: PasswordChecker.Reply = { answer in replies.withLock { $0.append(answer) } }
        #expect(checker.submit(question("first"), reply: reply))
        eventually("the first check") { running.withLock { $0.now } == 1 }
        for index in 0..<PasswordChecker.maximumWaiting { #expect(checker.submit(question("\(index)"), reply: reply)) }
        #expect(!checker.submit(question("one too many"), reply: reply))
        gate.wake()
        eventually("all replies") { replies.withLock { $0.count } == PasswordChecker.maximumWaiting + 1 }
        #expect(replies.withLock { $0 }.allSatisfy { $0 == true })
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func stopRepliesToAllOnceAndTakesNoMore() throws {
        let gate = SharedWakePipe()
        let isChecking = Mutex(false)
        let checker = PasswordChecker { _ in
            isChecking.withLock { $0 = true }
            _ = gate.wait()
            return true
        }
        let replies = Mutex<[Bool?]>([])
        for index in 0..<3 {
            #expect(checker.submit(question("\(index)")) { answer in replies.withLock { $0.append(answer) } })
        }
        eventually("the check") { isChecking.withLock { $0 } }
        checker.stop()
        #expect(replies.withLock { $0 } == [nil, nil, nil])
        #expect(!checker.submit(question("late")) { _ in })
        gate.wake()
        eventually("its answer") { checker.known(question("0")) == true }
        #expect(replies.withLock { $0.count } == 3)
    }
}

/// A bell that closures can share.
private final class SharedWakePipe: Sendable {
    private let bell = try! WakePipe()

    func wake() { bell.wake() }
    func wait() -> Bool { bell.wait(.seconds(30)) }
}
