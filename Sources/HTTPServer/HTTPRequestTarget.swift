internal import Bytes

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
            let sent = target[index]
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(sent) ? sent | 0x20 : sent
            guard lower == byte else { return false }
            index += 1
        }
        return true
    }

    /// The usual target: ASCII without query and escapes. Up to 15 bytes it takes no allocation.
    private static func plainPath(_ target: Span<UInt8>, from start: Int) -> String? {
        guard start == 0 else { return nil }
        for index in 0..<target.count {
            let byte = target[index]
            guard isVisible(byte), byte < 0x80, byte != UInt8(ascii: "?"), byte != UInt8(ascii: "%") else { return nil }
        }
        return unsafe String(unsafeUninitializedCapacity: target.count) { path in
            // Both have the capacity, and the string is given up to it.
            for index in 0..<target.count { unsafe path[index] = target[index] }
            return target.count
        }
    }

    /// Anything but ASCII's blanks and controls. Bytes beyond ASCII are no part of RFC 3986 and harm nobody.
    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F
    }

    private static func split(_ target: Span<UInt8>, from start: Int) -> HTTPRequestTarget {
        if let path = plainPath(target, from: start) { return .valid(path: path, query: "") }
        var path: [UInt8] = []
        path.reserveCapacity(target.count - start)
        var index = start
        while index < target.count, target[index] != UInt8(ascii: "?") {
            var byte = target[index]
            guard isVisible(byte) else { return .malformed }
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < target.count, let high = hexDigit(target[index]),
                    let low = hexDigit(target[index + 1])
                else { return .malformed }
                byte = high << 4 | low
                index += 2
                // C would end the path here and a reader after us would see another one.
                guard byte != 0 else { return .malformed }
            }
            path.append(byte)
        }
        if path.isEmpty { path.append(UInt8(ascii: "/")) }
        var query: [UInt8] = []
        if index < target.count {
            query = (index + 1..<target.count).map { target[$0] }
            guard query.allSatisfy(isVisible) else { return .malformed }
        }
        guard let path = String(validating: path, as: UTF8.self), let query = String(validating: query, as: UTF8.self)
        else { return .malformed }
        return .valid(path: path, query: query)
    }
}
