internal import Bytes

/// Compression of a server's messages: permessage-deflate, as negotiated in the handshake (RFC 7692).
enum Compression: Equatable {
    /// Each message is compressed on its own.
    case withoutContext
    /// Each message may refer to earlier ones.
    case withContext

    /// Why a response is rejected. `detail` is worded to follow "with".
    struct Disagreement: Error {
        let detail: String
        let serverWords: String
    }

    /// Checks a server's extensions against `HandshakeRequest.compressionOffer`; `nil` if there are none.
    init?(_ extensions: [String]) throws(Disagreement) {
        guard let first = extensions.first else { return nil }
        let parts = first.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
        guard extensions.count == 1, parts[0] == "permessage-deflate" else {
            throw Disagreement(
                detail: "extensions that were not offered", serverWords: extensions.joined(separator: ", "))
        }
        self = parts.contains("server_no_context_takeover") ? .withoutContext : .withContext
        // A response may add limits that were not offered (sections 7.1.1.2 and 7.1.2.1); our window fits them all.
        let windows = (8...15).flatMap { ["server_max_window_bits=\($0)", "server_max_window_bits=\"\($0)\""] }
        let known = ["server_no_context_takeover", "client_no_context_takeover"] + windows
        var names: Set<Substring> = []
        for parameter in parts.dropFirst() {
            guard known.contains(parameter), names.insert(parameter.prefix { $0 != "=" }).inserted else {
                throw Disagreement(detail: "an unacceptable permessage-deflate parameter", serverWords: parameter)
            }
        }
    }
}
