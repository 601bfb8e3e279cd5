internal import Bytes
internal import HTTPText
internal import System

enum HandshakeResponse: Equatable {
    /// Status 1xx other than 101: the final response is still to come.
    case interim
    case accepted(Compression?, fields: [HTTPField])
    /// The server's words are its reason phrase or the fields that are wrong, and the beginning of a text body.
    case rejected(detail: String, serverWords: String = "", retryAfter: Duration?)

    /// - Parameters:
    ///   - flagPrefix: beginning of the names of flags in details.
    ///   - now: milliseconds since the Unix epoch.
    init(_ head: HTTPHead, to request: HandshakeRequest, flagPrefix: String = "--feed.", now: Int64) {
        switch Self.status(head.startLine) {
        case nil: self = .rejected(detail: "the response is not HTTP", retryAfter: nil)
        case 101?: self = Self.upgrade(head.fields, request)
        case (100..<200)?: self = .interim
        case let status?:
            let retryAfter = head.fields.first("Retry-After").flatMap { parseRetryAfter($0, now: now) }
            let target = head.fields.first("Location").map { masked(address: $0) }
            let remark =
                switch status {
                case 200: ": not a WebSocket endpoint"
                case 401, 403: "; does it expect \(flagPrefix)header with Authorization or Origin?"
                case 404: ": not a WebSocket endpoint, or it expects \(flagPrefix)header with Origin or Authorization"
                case 300..<400 where target != nil: ": the feed has another address"
                default: ""
                }
            let phrase = head.startLine.split(separator: " ", maxSplits: 2).dropFirst(2).first ?? ""
            self = .rejected(
                detail: "status \(status) instead of 101\(remark)",
                serverWords: Self.first(phrase + (target.map { ": \($0)" } ?? "")), retryAfter: retryAfter)
        }
    }

    /// Adds the body of the response to the server's words.
    func adding(_ body: RejectionBody) -> HandshakeResponse {
        guard case .rejected(let detail, let phrase, let retryAfter) = self else { return self }
        let words = [phrase, body.text].filter { !$0.isEmpty }.joined(separator: ": ")
        return .rejected(detail: detail, serverWords: words, retryAfter: retryAfter)
    }

    private static func first(_ words: some StringProtocol) -> String {
        String(decoding: words.utf8.prefix(RejectionBody.maximumBytes), as: UTF8.self)
    }

    /// Status code of a line such as `HTTP/1.1 101 Switching Protocols`; the text after the code is ignored.
    private static func status(_ line: String) -> Int? {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == 8, parts[1].utf8.count == 3, parts[1].utf8.allSatisfy(isDigit)
        else { return nil }
        return Int(parts[1]).flatMap { $0 >= 100 ? $0 : nil }
    }

    /// Ignores `Content-Length` and `Transfer-Encoding`, which some servers send with a 101 (RFC 9112, section 6.3).
    private static func upgrade(_ fields: [HTTPField], _ request: HandshakeRequest) -> HandshakeResponse {
        func rejected(_ detail: String, serverWords: String = "") -> HandshakeResponse {
            .rejected(detail: "status 101 " + detail, serverWords: first(serverWords), retryAfter: nil)
        }
        guard fields.list("Upgrade").map({ $0.lowercased() }) == ["websocket"] else {
            return rejected("without Upgrade: websocket")
        }
        guard fields.list("Connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            return rejected("without Connection: Upgrade")
        }
        guard fields.list("Sec-WebSocket-Accept") == [request.expectedAccept] else {
            return rejected("with a wrong Sec-WebSocket-Accept")
        }
        let subprotocols = fields.list("Sec-WebSocket-Protocol")
        guard subprotocols.isEmpty || (subprotocols.count == 1 && request.subprotocols.contains(subprotocols[0])) else {
            return rejected(
                "with a subprotocol that was not offered", serverWords: subprotocols.joined(separator: ", "))
        }
        do throws(Compression.Disagreement) {
            return .accepted(try Compression(fields.list("Sec-WebSocket-Extensions")), fields: fields)
        } catch {
            return rejected("with " + error.detail, serverWords: error.serverWords)
        }
    }
}
