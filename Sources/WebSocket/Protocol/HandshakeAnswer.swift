internal import Bytes

/// What the server answered to the request for a WebSocket (RFC 6455, section 4.1).
enum HandshakeAnswer: Equatable {
    case accepted(isCompressed: Bool)
    case redirected(to: String)
    case refused(detail: String, retryAfter: Duration?)
}

extension HandshakeAnswer {
    /// The parts of the answer that are looked at; nil = not there.
    struct Head {
        var status: Int
        var upgrade: String?
        var connection: String?
        var accept: String?
        var extensions: String?
        var location: String?
        var retryAfter: String?
        /// Length or coding of a body, which an answer of status 101 cannot have.
        var hasBody = false
    }

    /// - Parameters:
    ///   - expectedAccept: see `HandshakeRequest.expectedAccept`.
    ///   - now: milliseconds since the Unix epoch.
    init(_ head: Head, expectedAccept: String, now: Int64) {
        switch head.status {
        case 101:
            self = Self.upgrade(head, expectedAccept)
        case 301, 302, 303, 307, 308:
            guard let location = head.location else {
                self = .refused(detail: "status \(head.status) without a Location", retryAfter: nil)
                return
            }
            self = .redirected(to: location)
        default:
            let retryAfter = head.retryAfter.flatMap { parseRetryAfter($0, now: now) }
            self = .refused(detail: "status \(head.status) instead of 101", retryAfter: retryAfter)
        }
    }

    private static func upgrade(_ head: Head, _ expectedAccept: String) -> HandshakeAnswer {
        func refused(_ detail: String) -> HandshakeAnswer {
            .refused(detail: "status 101 " + detail, retryAfter: nil)
        }
        guard let upgrade = head.upgrade, upgrade.lowercased() == "websocket" else {
            return refused("without Upgrade: websocket")
        }
        guard let connection = head.connection,
            connection.split(separator: ",").contains(where: { trimmed($0).lowercased() == "upgrade" })
        else { return refused("without Connection: Upgrade") }
        guard head.accept == expectedAccept else { return refused("with a wrong Sec-WebSocket-Accept") }
        guard !head.hasBody else { return refused("with a body") }
        guard let extensions = head.extensions else { return .accepted(isCompressed: false) }
        guard agreesOnCompression(extensions) else {
            return refused("with an extension that was not offered: \(extensions)")
        }
        return .accepted(isCompressed: true)
    }

    /// Whether the server took the one offer that was made, `HandshakeRequest.compressionOffer` (RFC 7692, 7.1).
    private static func agreesOnCompression(_ extensions: String) -> Bool {
        let parts = extensions.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
        guard parts[0] == "permessage-deflate" else { return false }
        let parameters = parts.dropFirst()
        guard Set(parameters).count == parameters.count, parameters.contains("server_no_context_takeover") else {
            return false
        }
        return parameters.allSatisfy { parameter in
            switch parameter {
            case "server_no_context_takeover", "client_no_context_takeover": true
            default: isWindowLimit(parameter)
            }
        }
    }

    /// `server_max_window_bits=8` to `=15`, quoted or not; any window fits into ours.
    private static func isWindowLimit(_ parameter: String) -> Bool {
        guard let value = parameter.dropping(prefix: "server_max_window_bits=") else { return false }
        return (8...15).contains { value == "\($0)" || value == "\"\($0)\"" }
    }
}

/// Without the blanks and tabs around it.
func trimmed(_ text: Substring) -> Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let start = text.drop(while: isBlank)
    return start.dropLast(start.reversed().prefix(while: isBlank).count)
}
