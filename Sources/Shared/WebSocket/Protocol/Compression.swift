internal import Bytes
internal import System

/// Compression of a server's messages: permessage-deflate, as agreed on in the handshake (RFC 7692).
enum Compression: Equatable {
    /// Each message on its own.
    case withoutContext
    /// Each message may refer to those before it.
    case withContext

    /// Checks the extensions in a server's response against `HandshakeRequest.compressionOffer`; `nil` = none.
    ///
    /// - Throws: why they cannot be agreed to, in words that complete "with".
    init?(_ extensions: [String]) throws(SystemError) {
        guard let first = extensions.first else { return nil }
        let parts = first.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
        guard extensions.count == 1, parts[0] == "permessage-deflate" else {
            throw SystemError(.peer, "extensions that were not offered: \(extensions.joined(separator: ", "))")
        }
        self = parts.contains("server_no_context_takeover") ? .withoutContext : .withContext
        // The peer may limit itself beyond the offer (sections 7.1.1.2 and 7.1.2.1); any window fits into ours.
        let windows = (8...15).flatMap { ["server_max_window_bits=\($0)", "server_max_window_bits=\"\($0)\""] }
        let known = ["server_no_context_takeover", "client_no_context_takeover"] + windows
        var names: Set<Substring> = []
        for parameter in parts.dropFirst() {
            guard known.contains(parameter), names.insert(parameter.prefix { $0 != "=" }).inserted else {
                throw SystemError(.peer, "permessage-deflate that we cannot agree to: \(parameter)")
            }
        }
    }
}
