/// Where in a document a value stands, as in RFC 6901: empty for the document itself, else `/` before each token.
public struct JSONPointer: Sendable, Equatable {
    /// The reference tokens with `~1` and `~0` replaced.
    public let tokens: [[UInt8]]

    /// The document itself.
    public init() {
        tokens = []
    }

    /// Fails when the text is neither empty nor begins with `/`, or holds a `~` that is not `~0` or `~1`.
    public init?(_ text: String) {
        guard !text.isEmpty else {
            self.init()
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [[UInt8]] = []
        var rest = text.utf8.dropFirst()[...]
        while true {
            let raw = rest.prefix { $0 != UInt8(ascii: "/") }
            guard let token = Self.unescape(raw) else { return nil }
            tokens.append(token)
            rest = rest.dropFirst(raw.count)
            guard !rest.isEmpty else { break }
            rest = rest.dropFirst()
        }
        self.init(tokens: tokens)
    }

    /// A member of an object, or where the text begins with `/`, what it points to in the object.
    public init?(member text: String) {
        guard text.utf8.first != UInt8(ascii: "/") else {
            self.init(text)
            return
        }
        self.init(tokens: [Array(text.utf8)])
    }

    private init(tokens: [[UInt8]]) {
        self.tokens = tokens
    }

    private static func unescape(_ raw: Substring.UTF8View) -> [UInt8]? {
        var token: [UInt8] = []
        var bytes = raw.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "~") else {
                token.append(byte)
                continue
            }
            switch bytes.next() {
            case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return token
    }
}
