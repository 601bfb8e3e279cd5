internal import Bytes
internal import System

/// Compression of a server's messages: permessage-deflate, as negotiated in the handshake (RFC 7692).
enum Compression: Equatable {
    /// Each message is compressed on its own.
    case withoutContext
    /// Each message may refer to earlier ones.
    case withContext

    /// Checks a server's extensions against `HandshakeRequest.compressionOffer`; `nil` if there are none. The reason of
    /// an error is worded to follow "with".
    init?(_ extensions: [String]) throws(SystemError) {
        guard let first = extensions.first else { return nil }
        let parts = first.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
        guard extensions.count == 1, parts[0] == "permessage-deflate" else {
            throw SystemError(.peer, "extensions that were not offered: \(extensions.joined(separator: ", "))")
        }
        self = parts.contains("server_no_context_takeover") ? .withoutContext : .withContext
        // A response may add limits that were not offered (sections 7.1.1.2 and 7.1.2.1); our window fits them all.
        let windows = (8...15).flatMap { ["server_max_window_bits=\($0)", "server_max_window_bits=\"\($0)\""] }
        let known = ["server_no_context_takeover", "client_no_context_takeover"] + windows
        var names: Set<Substring> = []
        for parameter in parts.dropFirst() {
            guard known.contains(parameter), names.insert(parameter.prefix { $0 != "=" }).inserted else {
                throw SystemError(.peer, "an unacceptable permessage-deflate parameter: \(parameter)")
            }
        }
    }
}
