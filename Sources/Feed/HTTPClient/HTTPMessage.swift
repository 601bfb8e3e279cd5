internal import Bytes
public import HTTPText

/// A GET.
public struct HTTPRequest: Sendable, Equatable {
    /// With scheme and host; may hold secrets, so it is never part of an error.
    public var url: String
    /// Header lines without line ends, `Name: value`.
    public var headers: [String]

    public init(url: String, headers: [String] = []) {
        self.url = url
        self.headers = headers
    }
}

public struct HTTPResponse: Sendable, Equatable {
    public var status: Int
    /// In the order of arrival, names as they came.
    public var headers: HTTPFields = [:]
    /// Decompressed.
    public var body: [UInt8] = []

    /// The first field of that name, in any case.
    public func header(_ name: String) -> String? { headers.first(name) }
}

/// The reason why there is no response.
public struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        /// The name of the host or of the proxy.
        case resolve
        case connect
        case tls
        /// Of connecting, or of all of it.
        case timeout
        /// The connection ended before the response did.
        case lost
        case tooLarge = "too large"
        /// Elsewhere than to the same host, to plain text, or too often.
        case redirect
        /// Not HTTP.
        case malformed
        case cancelled
        /// Anything else that libcurl says.
        case other
    }

    public let reason: Reason
    /// One line for people.
    public let detail: String

    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    public var description: String { "\(reason.rawValue): \(detail)" }
}

/// Scheme, host and port of an address.
public struct HTTPOrigin: Sendable, Equatable, CustomStringConvertible {
    public let scheme: String
    /// Lower case; an IPv6 address in brackets.
    public let host: String
    /// Nil when the address names none.
    public let port: Int?

    /// Nil for anything but `http://` and `https://` with a host, and for an address with a user in it.
    public init?(_ url: String) {
        let parts = url.utf8
        guard let colon = parts.firstIndex(of: UInt8(ascii: ":")), parts[colon...].starts(with: "://".utf8) else {
            return nil
        }
        scheme = String(url[..<colon]).lowercased()
        let authority = parts[parts.index(colon, offsetBy: 3)...].prefix { !"/?#".utf8.contains($0) }
        // The colons of an IPv6 address are in brackets.
        let bracket = authority.first == UInt8(ascii: "[") ? authority.firstIndex(of: UInt8(ascii: "]")) : nil
        let afterBracket = authority[(bracket ?? authority.startIndex)...]
        let host = authority[..<(afterBracket.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)]
        guard scheme == "http" || scheme == "https", !host.isEmpty, !authority.contains(UInt8(ascii: "@")),
            bracket == nil || host.last == UInt8(ascii: "]")
        else { return nil }
        self.host = String(decoding: host, as: UTF8.self).lowercased()
        let rest = authority[host.endIndex...]
        guard let first = rest.first else {
            port = nil
            return
        }
        let digits = rest.dropFirst()
        guard first == UInt8(ascii: ":"), !digits.isEmpty, digits.allSatisfy(isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(port)
        else { return nil }
        self.port = port
    }

    public var description: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// True if a request may go on there with all that it carries: the same place, or the same host over TLS.
    func mayRedirect(to other: HTTPOrigin) -> Bool {
        self == other || host == other.host && scheme == "http" && other.scheme == "https"
    }
}
