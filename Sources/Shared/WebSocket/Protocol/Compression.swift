internal import Bytes

/// How a server compresses its messages: permessage-deflate, as agreed on in the handshake (RFC 7692).
enum Compression: Equatable {
    /// Each message on its own.
    case withoutContext
    /// Each message may refer to those before it.
    case withContext
}

/// Why the extensions in a response cannot be agreed to, in words that complete "with".
struct ExtensionError: Error {
    let description: String
}

extension Compression {
    /// Checks the extensions in a server's response against `HandshakeRequest.compressionOffer`; nil = none.
    init?(_ extensions: [String]) throws(ExtensionError) {
        guard let last = extensions.last else { return nil }
        let others = extensions.filter { Self.parts($0)[0] != "permessage-deflate" }
        guard others.isEmpty else {
            throw ExtensionError(description: "an extension that was not offered: \(others.joined(separator: ", "))")
        }
        guard extensions.count == 1 else { throw ExtensionError(description: "permessage-deflate twice") }
        self = .withContext
        var names: Set<Substring> = []
        for parameter in Self.parts(last).dropFirst() {
            let name = parameter.prefix { $0 != "=" }
            guard names.insert(name).inserted else {
                throw ExtensionError(description: "permessage-deflate and \(name) twice")
            }
            switch (name, parameter.dropFirst(name.count)) {
            case ("server_no_context_takeover", ""): self = .withoutContext
            // What it limits itself to beyond the offer (sections 7.1.1.2 and 7.1.2.1); any window fits into ours.
            case ("client_no_context_takeover", ""): break
            case ("server_max_window_bits", let value)
            where (8...15).contains { value == "=\($0)" || value == "=\"\($0)\"" }:
                break
            default:
                throw ExtensionError(description: "permessage-deflate that we cannot agree to: \(parameter)")
            }
        }
    }

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
    }
}
