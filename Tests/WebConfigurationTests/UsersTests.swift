import Testing

@testable import HTTPServer
@testable import WebConfiguration

@Suite struct UsersTests {
    private static let quick = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
    private static let slow = "$2b$12$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

    private let users: [[UInt8]: BcryptHash] = [
        Array("alice".utf8): BcryptHash(quick)!, Array("bob".utf8): BcryptHash(slow)!,
    ]

    private func credentials(_ user: String, _ password: String) -> Credentials {
        Credentials(user: Array(user.utf8), password: Array(password.utf8))
    }

    @Test(arguments: [("alice", "x"), ("bob", "x"), ("nobody", "x"), ("alice", "")])
    func `A rejection takes as many rounds as the most expensive hash, for any user`(user: String, password: String) {
        var rounds = 0
        let isRight = users.isRight(credentials(user, password)) { hash, _ in
            rounds += 1 << hash.cost
            return false
        }
        #expect(!isRight && rounds == 1 << 12)
    }

    @Test func `A correct password takes one check, and an unknown user is rejected`() throws {
        var hashes: [BcryptHash] = []
        #expect(
            users.isRight(credentials("alice", "correct horse")) { hash, _ in
                hashes.append(hash)
                return true
            })
        #expect(try hashes == [#require(BcryptHash(Self.quick))])
        #expect(try #require(HTTPAccess.Users(users)).isRight(credentials("alice", "correct horse")))
        #expect(!users.isRight(credentials("nobody", "correct horse")) { _, _ in true })
    }

    @Test func `Users are the same as long as their hashes are`() throws {
        #expect(HTTPAccess.Users([:]) == nil)
        #expect(HTTPAccess.Users(users) == HTTPAccess.Users(users))
        var others = users
        others[Array("alice".utf8)] = .decoy(cost: 4)
        #expect(HTTPAccess.Users(users) != HTTPAccess.Users(others))
    }
}
