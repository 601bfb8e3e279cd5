internal import Bytes
package import CommandLine
internal import HTTPText
internal import System
package import WebSocket

extension ValueFormat<WebSocketAddress> {
    package static var feedAddress: Self {
        Self("ADDRESS") { text throws(RejectedText) in
            do throws(SystemError) {
                return try WebSocketAddress(text)
            } catch {
                let isHTTP = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
                let poller = isHTTP ? "; for JSON over HTTP, air-quality-feed poll --source json serves a feed" : ""
                let expected = "a ws:// or wss:// address, such as ws://host:8080/path"
                throw RejectedText(text, expected: "\(expected); \(error)\(poller)")
            }
        }
    }
}

extension ValueFormat<HTTPField> {
    static var headerField: Self {
        Self("NAME: VALUE") { text throws(RejectedText) in
            let expected: String
            if hasSecondField(text) || text.hasSuffix("\\n") {
                expected = "one header field, each in a flag or line of its own"
            } else if text.hasPrefix("\"") || text.hasPrefix("'") {
                // An apostrophe left by a shell would be valid in a field name.
                expected = "\"Name: value\" without quotation marks"
            } else if let field = HTTPField(line: text) {
                guard field.isReserved else { return field }
                expected = field.expectedInstead
            } else {
                expected = "\"Name: value\" on one line"
            }
            throw RejectedText(text, expected: expected)
        }
    }
}

/// Whether another field follows a comma, semicolon, bar or `\n`, as in `A: b;C: d` and `A: b|C:d`, but not in a value
/// such as `a=b; c=d:e`, which has no space after the colon and no capital letter, or in parentheses, which comment on
/// a `User-Agent`.
private func hasSecondField(_ text: String) -> Bool {
    let withoutComments = text.replacing(/\([^)]*\)/, with: "")
    // A backslash and a letter, which shells and YAML take for a line break in some quotation marks only.
    let text = withoutComments.replacing("\\r", with: "").replacing("\\n", with: "|")
    let parts = text.utf8.split { ",;|".utf8.contains($0) }
    return parts.dropFirst().contains { part in
        let line = part.drop(while: isBlank)
        let name = line.prefix(while: isTokenCharacter)
        guard let first = name.first else { return false }
        let isUsualName = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first && !name.contains(where: isDigit)
        return line.dropFirst(name.count).starts(with: (isUsualName ? ":" : ": ").utf8)
    }
}

extension ValueFormat<String> {
    /// A token (RFC 6455, section 4.1).
    static var subprotocol: Self {
        Self("NAME", expected: "a name of letters, digits and !#$%&'*+-.^_`|~") { name in
            name.isEmpty || !name.utf8.allSatisfy(isTokenCharacter) ? nil : name
        }
    }

    /// A jq program. Compiled later, together with the other settings.
    package static var program: Self { Self("PROGRAM", expected: "a jq program") { $0.isEmpty ? nil : $0 } }
}

extension ParsedFlags {
    /// Parses the operand as a feed's URL.
    package func feedAddress() throws(FlagError) -> WebSocketAddress {
        do throws(RejectedText) {
            return try ValueFormat.feedAddress.read(operands[0])
        } catch {
            throw FlagError("URL \(quoted(masked(address: error.text))): expected \(error.expected)")
        }
    }
}
