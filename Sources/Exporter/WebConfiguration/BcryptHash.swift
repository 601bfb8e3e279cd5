internal import Bytes
internal import CCrypt
internal import Glibc

/// A bcrypt hash of a password: `$2`, a letter that may be missing, `$`, two digits of cost, `$`, 22 characters of salt
/// and 31 of digest. Judged as Go's `golang.org/x/crypto/bcrypt` judges it.
public struct BcryptHash: Sendable, Hashable {
    public static let costs = 4...31

    /// The logarithm of the number of rounds.
    public let cost: Int
    /// The parts before the digest, as libxcrypt takes them.
    private let setting: String
    private let digest: [UInt8]

    /// Returns `nil` for another text. What follows the digest, a line end perhaps, does not count.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: "$2".utf8), bytes.count > 4 else { return nil }
        let parameters = bytes[2] == UInt8(ascii: "$") ? bytes[3...] : bytes[4...]
        guard parameters.count >= 56, let cost: Int = decimalNumber(parameters.prefix(2)), Self.costs ~= cost else {
            return nil
        }
        self.cost = cost
        // The variants differ in how old programs got long or 8-bit passwords wrong; Go computes all of them as this.
        setting = "$2b$" + String(decoding: parameters.prefix(25), as: UTF8.self)
        digest = Array(parameters.dropFirst(25).prefix(31))
    }

    /// A hash of that cost which is no password's.
    public static func decoy(cost: Int) -> BcryptHash {
        BcryptHash((cost < 10 ? "$2b$0\(cost)$" : "$2b$\(cost)$") + String(repeating: ".", count: 22 + 31))!
    }

    /// Whether it is the password's. A password with a NUL has no hash; of a longer one, 72 bytes count.
    ///
    /// Takes tens of milliseconds and up: not for a thread that serves others. Corresponds to `crypt_r`.
    public func isHash(of password: [UInt8]) -> Bool {
        guard !password.contains(0) else { return false }
        let phrase = (password.prefix(72) + [0]).map(CChar.init(bitPattern:))
        // 32 KiB: too much for a small stack.
        let state = unsafe calloc(1, MemoryLayout<crypt_data>.size)!
        defer { unsafe free(state) }
        // A failure is a text too, but shorter than any setting.
        guard let result = unsafe crypt_r(phrase, setting, state.assumingMemoryBound(to: crypt_data.self)) else {
            return false
        }
        let computed = unsafe Array(String(cString: result).utf8).dropFirst(setting.utf8.count)
        // The time does not tell where the difference is.
        return computed.count == digest.count && zip(computed, digest).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
