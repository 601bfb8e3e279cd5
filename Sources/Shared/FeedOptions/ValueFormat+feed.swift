internal import Bytes
package import CommandLine
internal import HTTPText
internal import System
package import WebSocket

extension ValueFormat<WebSocketAddress> {
    package static var feedAddress: Self {
        Self(
            "ADDRESS",
            expected: { text in
                var reason = ""
                do throws(SystemError) {
                    _ = try WebSocketAddress(text)
                } catch {
                    reason = "; \(error)"
                }
                return "a ws:// or wss:// address, such as ws://host:8080/path" + reason
            },
            parse: { try? WebSocketAddress($0) })
    }
}

extension ValueFormat<HTTPField> {
    static var headerField: Self {
        Self(
            "NAME: VALUE",
            expected: { text in
                if hasSecondField(text) { return "one header field, each in a flag or line of its own" }
                // An apostrophe left by a shell; it would be valid in a field name.
                if text.first == "'" { return "\"Name: value\" without quotation marks" }
                return HTTPField(line: text)?.expectedInstead ?? "\"Name: value\" on one line"
            },
            parse: { text in
                guard let field = HTTPField(line: text), !field.isReserved else { return nil }
                return hasSecondField(text) || text.first == "'" ? nil : field
            })
    }
}

/// Whether another field follows a comma, semicolon or bar, as in `A: b;C: d` and `A: b|C:d`, but not in a value such
/// as `a=b; c=d:e`, which has no space after the colon and no capital letter, or in parentheses, which comment on a
/// `User-Agent`.
private func hasSecondField(_ text: String) -> Bool {
    text.replacing(/\([^)]*\)/, with: "").utf8.split { ",;|".utf8.contains($0) }.dropFirst().contains { part in
        let line = part.drop(while: isBlank)
        let name = line.prefix(while: isTokenCharacter)
        let isCapital = name.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
        let isName = isCapital && !name.contains(where: isDigit)
        return !name.isEmpty && line.dropFirst(name.count).starts(with: (isName ? ":" : ": ").utf8)
    }
}

extension ValueFormat<String> {
    /// A token (RFC 6455, section 4.1).
    static var subprotocol: Self {
        Self("NAME", expected: "a name of letters, digits and !#$%&'*+-.^_`|~") { name in
            name.isEmpty || !name.utf8.allSatisfy(isTokenCharacter) ? nil : name
        }
    }
}

extension ParsedFlags {
    /// Parses the operand as a feed's URL.
    package func feedAddress() throws(FlagError) -> WebSocketAddress {
        let text = operands[0]
        let format = ValueFormat.feedAddress
        guard let address = format.parse(text) else {
            throw FlagError("URL \(quoted(masked(address: text))): expected \(format.expected(text))")
        }
        return address
    }
}
