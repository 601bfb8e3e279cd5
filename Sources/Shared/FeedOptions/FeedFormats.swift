internal import Bytes
internal import CommandLine
internal import HTTPText
internal import WebSocket

extension ValueFormat<HTTPField> {
    static var headerField: Self {
        Self(
            "NAME: VALUE",
            expected: { text in
                if hasSecondField(text) { return "one header field; repeat the flag for each" }
                return HTTPField(line: text)?.expectedInstead ?? "\"Name: value\" on one line"
            },
            parse: { text in
                guard let field = HTTPField(line: text), !field.isReserved, !hasSecondField(text) else { return nil }
                return field
            })
    }
}

/// Whether the text goes on with another field after a comma or a semicolon, as in `A: b;C: d`.
private func hasSecondField(_ text: String) -> Bool {
    text.utf8.split { ",;".utf8.contains($0) }.dropFirst().contains { part in
        let line = part.drop(while: isBlank)
        let name = line.prefix(while: isTokenCharacter)
        return !name.isEmpty && line.dropFirst(name.count).starts(with: ": ".utf8)
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
