internal import Bytes

/// A request as the route closure sees it, valid while that closure runs.
///
/// Header fields are looked up when asked for: what nobody asks for is not copied.
public struct HTTPRequest: ~Copyable {
    public let method: String
    /// Percent-decoded and otherwise as sent: `//` and `/..` stay what they are.
    public let path: String
    /// As sent, without the `?`.
    public let query: String
    private let fields: Fields

    private enum Fields {
        case connection(MHDConnection)
        case list([(name: String, value: String)])
    }

    /// A request that came over no socket, to ask a route directly.
    public init(
        method: String = "GET", path: String, query: String = "", headers: [(name: String, value: String)] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        fields = .list(headers)
    }

    init(method: String, path: String, query: String, connection: MHDConnection) {
        self.method = method
        self.path = path
        self.query = query
        fields = .connection(connection)
    }

    /// The value of a header field whatever the case of its name; several lines of one name are joined with `, `
    /// (RFC 9110 section 5.3).
    public func header(_ name: String) -> String? {
        switch fields {
        case .connection(let connection):
            return connection.header(name)
        case .list(let fields):
            let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }
}

/// The request target of RFC 9112 section 3.2, taken apart.
enum HTTPRequestTarget: Equatable {
    /// The path is percent-decoded and otherwise as sent: no segment is merged or resolved. The query is raw.
    case valid(path: String, query: String)
    case malformed
    case tooLong

    /// Reads the origin form (`/path?query`), the absolute form (`http://host/path?query`) and `*`.
    init(parsing target: Span<UInt8>, limit: Int) {
        if target.count > limit {
            self = .tooLong
        } else if let start = Self.startOfPath(in: target) {
            self = Self.split(target, from: start)
        } else {
            self = .malformed
        }
    }

    /// Nil when it cannot be read.
    var path: String? {
        if case .valid(let path, _) = self { path } else { nil }
    }

    private static func startOfPath(in target: Span<UInt8>) -> Int? {
        guard target.count > 0 else { return nil }
        if target[0] == UInt8(ascii: "/") { return 0 }
        if target.count == 1, target[0] == UInt8(ascii: "*") { return 0 }
        return startOfPathAfterAuthority(in: target)
    }

    /// RFC 9112 section 3.2.2: a server must accept the absolute form.
    private static func startOfPathAfterAuthority(in target: Span<UInt8>) -> Int? {
        for scheme in ["http://", "https://"] where hasPrefix(scheme, target) {
            var index = scheme.utf8.count
            let authority = index
            while index < target.count, target[index] != UInt8(ascii: "/"), target[index] != UInt8(ascii: "?") {
                index += 1
            }
            return index > authority ? index : nil
        }
        return nil
    }

    private static func hasPrefix(_ prefix: String, _ target: Span<UInt8>) -> Bool {
        guard target.count >= prefix.utf8.count else { return false }
        var index = 0
        for byte in prefix.utf8 {
            guard lowercase(target[index]) == byte else { return false }
            index += 1
        }
        return true
    }

    /// Anything but ASCII's blanks and controls. Bytes beyond ASCII are no part of RFC 3986 and harm nobody.
    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F
    }

    private static func split(_ target: Span<UInt8>, from start: Int) -> HTTPRequestTarget {
        let bytes = (start..<target.count).map { target[$0] }
        guard bytes.allSatisfy(isVisible) else { return .malformed }
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        // With a NUL, C would end the path there and a proxy or client after us would see another one.
        guard let path = percentDecoded(bytes[..<end]), !path.contains(0),
            let path = String(validating: path.isEmpty ? [UInt8(ascii: "/")] : path, as: UTF8.self),
            let query = String(validating: bytes[end...].dropFirst(), as: UTF8.self)
        else { return .malformed }
        return .valid(path: path, query: query)
    }
}

/// Whether to answer with gzip, from the request's `Accept-Encoding` (RFC 9110 section 12.5.3).
///
/// Yes when gzip is acceptable and its weight is not below that of an identity that is named. Elements with a malformed
/// weight do not count.
public func prefersGzip(acceptEncoding: String?) -> Bool {
    guard let acceptEncoding else { return false }
    var gzip: Int?
    var identity: Int?
    var others: Int?
    var list = acceptEncoding.utf8[...]
    while !list.isEmpty {
        let element = list.prefix { $0 != UInt8(ascii: ",") }
        list = list[element.endIndex...].dropFirst()
        let coding = element.prefix { $0 != UInt8(ascii: ";") }
        guard let weight = weight(element[coding.endIndex...]) else { continue }
        let name = trimmed(coding)
        if equalsIgnoringCase(name, "gzip") || equalsIgnoringCase(name, "x-gzip") {
            gzip = max(gzip ?? 0, weight)
        } else if equalsIgnoringCase(name, "identity") {
            identity = weight
        } else if name.elementsEqual("*".utf8) {
            others = weight
        }
    }
    let preference = gzip ?? others ?? 0
    return preference > 0 && preference >= identity ?? 0
}

/// The weight behind `;q=` in thousandths, 1000 without one; nil when it is malformed.
private func weight(_ parameters: Substring.UTF8View) -> Int? {
    var rest = parameters
    while rest.first == UInt8(ascii: ";") {
        let parameter = trimmed(rest.dropFirst().prefix { $0 != UInt8(ascii: ";") })
        rest = rest.dropFirst().drop { $0 != UInt8(ascii: ";") }
        let name = parameter.prefix { $0 != UInt8(ascii: "=") }
        if equalsIgnoringCase(trimmed(name), "q") {
            let value = trimmed(parameter[name.endIndex...].dropFirst())
            // At most three decimals (RFC 9110 section 12.4.2).
            return value.count <= 5 ? qualityValue(value.span) : nil
        }
    }
    return rest.isEmpty ? 1000 : nil
}
