internal import Bytes
internal import CCrypt
internal import Glibc

/// A bcrypt hash of a password: `$2`, an optional letter, `$`, two digits of cost, `$`, 22 characters of salt and 31 of
/// digest. Validated as Go's `golang.org/x/crypto/bcrypt` does.
struct BcryptHash: Sendable, Hashable {
    static let costs = 4...31

    /// Binary logarithm of the number of rounds.
    let cost: Int
    /// Everything before the digest, in the form that libxcrypt takes.
    private let setting: String
    private let digest: [UInt8]

    var text: String { setting + String(decoding: digest, as: UTF8.self) }

    /// Returns `nil` for other texts. Anything after the digest, such as a line end, is ignored.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: "$2".utf8), bytes.count > 4 else { return nil }
        let parameters = bytes[2] == UInt8(ascii: "$") ? bytes[3...] : bytes[4...]
        guard parameters.count >= 56, let cost: Int = decimalNumber(parameters.prefix(2)), Self.costs ~= cost else {
            return nil
        }
        self.cost = cost
        // The letters mark bugs of old programs with long or 8-bit passwords; Go treats every variant as `$2b$`.
        setting = "$2b$" + String(decoding: parameters.prefix(25), as: UTF8.self)
        digest = Array(parameters.dropFirst(25).prefix(31))
    }

    /// Returns a hash with this cost that matches no password.
    static func decoy(cost: Int) -> BcryptHash {
        BcryptHash((cost < 10 ? "$2b$0\(cost)$" : "$2b$\(cost)$") + String(repeating: ".", count: 22 + 31))!
    }

    /// Returns whether this is the hash of the password; never if that has a NUL. Only its first 72 bytes count. Takes
    /// tens of milliseconds or more, so it is not for a thread that serves others. Corresponds to `crypt_r`.
    func isHash(of password: [UInt8]) -> Bool {
        guard !password.contains(0) else { return false }
        let phrase = (password.prefix(72) + [0]).map(CChar.init(bitPattern:))
        // 32 KiB is too much for a small stack.
        let state = unsafe calloc(1, MemoryLayout<crypt_data>.size)!
        defer { unsafe free(state) }
        // On failure, the result is a text that is shorter than any setting.
        guard let result = unsafe crypt_r(phrase, setting, state.assumingMemoryBound(to: crypt_data.self)) else {
            return false
        }
        let computed = unsafe Array(String(cString: result).utf8).dropFirst(setting.utf8.count)
        // Takes constant time, so as not to reveal the position of a difference.
        return computed.count == digest.count && zip(computed, digest).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
