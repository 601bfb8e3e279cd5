internal import Bytes
internal import CCrypt

/// User and password of an `Authorization: Basic …` header (RFC 7617), as bytes.
public struct BasicCredentials: Sendable, Hashable {
    public var user: [UInt8]
    public var password: [UInt8]

    public init(user: [UInt8], password: [UInt8]) {
        self.user = user
        self.password = password
    }

    /// Returns `nil` when the header's value is not of that form. The scheme's case does not count; the user ends at
    /// the first colon.
    public init?(authorization: String) {
        let scheme = Array("basic ".utf8)
        let bytes = Array(authorization.utf8)
        guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
            let decoded = decodeBase64(bytes[scheme.count...]), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        user = Array(decoded[..<colon])
        password = Array(decoded[(colon + 1)...])
    }
}

/// bcrypt password hashes by libxcrypt's `crypt_r`, judged as Go's `golang.org/x/crypto/bcrypt` judges them.
public enum Bcrypt {
    /// True if the hash is of the password. Takes as long as the hash's cost wants, tens of milliseconds and up: not on
    /// a thread that serves others. A password with a NUL has no hash; of a longer one, 72 bytes count.
    public static func verify(password: [UInt8], hash: String) -> Bool {
        guard !password.contains(0), let parts = BcryptHash(hash) else { return false }
        // The variants differ in how old programs got long or 8-bit passwords wrong; Go computes all of them as this.
        let setting = Array((parts.cost < 10 ? "$2b$0\(parts.cost)$" : "$2b$\(parts.cost)$").utf8) + parts.salt
        guard let computed = crypt(password.prefix(72) + [0], setting: setting + [0]) else { return false }
        return equalInConstantTime(computed.dropFirst(setting.count), parts.digest)
    }

    public static let lowestCost = 4

    /// The cost of a hash: the logarithm of its number of rounds. `nil` when the text is no hash.
    public static func cost(of hash: String) -> Int? { BcryptHash(hash)?.cost }

    /// A hash of that cost which is no password's.
    public static func decoy(cost: Int) -> String {
        (cost < 10 ? "$2b$0\(cost)$" : "$2b$\(cost)$") + String(repeating: ".", count: 22 + 31)
    }

    /// Returns `nil` when a web configuration may hold the text as a hash; otherwise what is wrong with it, without the
    /// text.
    static func problem(of hash: String) -> String? {
        let bytes = Array(hash.utf8)
        if bytes.count < 59 { return "it is too short" }
        if bytes[0] != UInt8(ascii: "$") { return "it does not begin with $" }
        if bytes[1] > UInt8(ascii: "2") { return "its version is above 2" }
        guard let cost = BcryptHash.cost(of: bytes) else { return "its cost is not a number" }
        guard lowestCost...31 ~= cost else { return "its cost is not from 4 to 31" }
        return nil
    }

    /// Corresponds to `crypt_r`; both end with a NUL.
    private static func crypt(_ password: [UInt8], setting: [UInt8]) -> [UInt8]? {
        // 32 KiB, which the function wants to be zero: too much to pass through a small stack.
        let state = UnsafeMutablePointer<crypt_data>.allocate(capacity: 1)
        unsafe UnsafeMutableRawBufferPointer(start: state, count: MemoryLayout<crypt_data>.size)
            .initializeMemory(as: UInt8.self, repeating: 0)
        defer { unsafe state.deallocate() }
        let result = unsafe password.withUnsafeBytes { password in
            unsafe setting.withUnsafeBytes { setting in
                unsafe crypt_r(
                    password.baseAddress!.assumingMemoryBound(to: CChar.self),
                    setting.baseAddress!.assumingMemoryBound(to: CChar.self), state)
            }
        }
        guard let result = unsafe result else { return nil }
        // A failure is a text too, but shorter than any setting.
        return unsafe Array(String(cString: result).utf8)
    }

    /// Compares without telling by its time where the difference is.
    private static func equalInConstantTime(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(left, right) { difference |= left ^ right }
        return difference == 0
    }
}

/// `$2`, a letter that may be missing, `$`, two digits of cost, `$`, 22 characters of salt, 31 of digest.
private struct BcryptHash {
    var cost: Int
    var salt: ArraySlice<UInt8>
    var digest: ArraySlice<UInt8>

    init?(_ hash: String) {
        let bytes = Array(hash.utf8)
        guard Bcrypt.problem(of: hash) == nil, let cost = Self.cost(of: bytes) else { return nil }
        self.cost = cost
        let saltStart = Self.costStart(of: bytes) + 3
        salt = bytes[saltStart..<saltStart + 22]
        digest = bytes[(saltStart + 22)...].prefix(31)  // what follows, a line end perhaps, does not count
    }

    /// A hash of at least 59 bytes.
    static func cost(of bytes: [UInt8]) -> Int? {
        let start = costStart(of: bytes)
        return Int(String(decoding: bytes[start..<start + 2], as: UTF8.self))
    }

    private static func costStart(of bytes: [UInt8]) -> Int { bytes[2] == UInt8(ascii: "$") ? 3 : 4 }
}
