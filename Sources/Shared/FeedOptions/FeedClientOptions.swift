internal import Bytes
public import CommandLine
public import HTTPText
package import JQ
internal import System
public import WebSocket

/// The flags for the connection to a feed, shared by all programs that read one.
public struct FeedClientOptions: Options {
    public var headers: [HTTPField] = []
    public var headerFile: String?
    /// Prefix of the flags' names on the command line.
    public var prefix = "feed."
    /// The jq program whose results are sent in response to messages; `nil` = none.
    public var reply: String?
    /// Everything but the URL, the header fields and the replies.
    public var connection = WebSocketClientConfiguration()

    public init() {}

    public static let flags: [Flag<Self>] = [
        Flag("header", \.headers, .headerField, secrecy: .whole, "Header field for the handshake."),
        Flag(
            "header-file", \.headerFile, .file,
            "File with header fields for the handshake, one per line; read at each connection attempt."),
        Flag(
            "subprotocol", \.connection.subprotocols, .subprotocol,
            "WebSocket subprotocol to offer, in order of preference."),
        Flag("subscribe", \.connection.subscriptions, .text, secrecy: .whole, "Text message sent after every connect."),
        Flag(
            "subscribe-interval", \.connection.subscriptionInterval, .duration(),
            "Interval for resending the subscribe texts; 0 sends them once."),
        Flag(
            "reply", \.reply, .program, secrecy: .whole,
            "jq program whose results are sent: its input is null after each connect, then each message."),
        Flag(
            "ca-file", \.connection.tls.caFile, .file,
            "Certificate authorities for wss://, PEM; the system's by default."),
        Flag("cert-file", \.connection.tls.certificateFile, .file, "Client certificate for wss://, PEM."),
        Flag("key-file", \.connection.tls.keyFile, .file, "Key of the client certificate, PEM."),
        Flag("insecure-skip-verify", \.connection.tls.skipsVerification, "Do not verify the feed's certificate."),
        Flag(
            "connect-timeout", \.connection.connectTimeout, .timeout,
            "Maximum time from dialling to the completed handshake."),
        Flag(
            "ping-interval", \.connection.pingInterval, .duration(),
            "Send a ping after this long without sending or receiving anything; 0 disables."),
        Flag(
            "pong-timeout", \.connection.pongTimeout, .timeout,
            "Disconnect if nothing arrives within this time after a ping."),
        Flag(
            "idle-timeout", \.connection.idleTimeout, .duration(),
            "Reconnect if no complete message arrives within this time; 0 disables."),
        Flag(
            "reconnect-min", \.connection.reconnectMinimum, .timeout,
            "Initial upper bound of the randomised reconnect delay; doubles after each failure, until a connection lasts "
                + "a minute, or ten seconds with readings."),
        Flag("reconnect-max", \.connection.reconnectMaximum, .timeout, "Maximum upper bound of the reconnect delay."),
        Flag(
            "max-message-bytes", \.connection.maximumMessageBytes, .bytes(in: 1...(1 << 30)),
            "Maximum size of a message; longer ones are rejected."),
    ]

    /// Returns the jq programs for a feed: one for its elements, and that of the replies.
    package func programs(elements: JQProgram? = nil) -> FeedPrograms {
        FeedPrograms(elements: elements, replies: replyProgram, messageBytes: connection.maximumMessageBytes)
    }

    /// Returns the configuration for the feed at an address.
    public func configuration(of address: WebSocketAddress, userAgent: String) -> WebSocketClientConfiguration {
        var configuration = connection
        configuration.address = address
        configuration.userAgent = userAgent
        configuration.flagPrefix = "--\(prefix)"
        configuration.headerFields = { try headerFields() }
        return configuration
    }

    // MARK: Checks

    /// Checks the options as a whole, and the files they name.
    public func check() throws(FeedOptionError) {
        func require(_ isUsable: Bool, _ flag: String, _ expected: String) throws(FeedOptionError) {
            if !isUsable { throw FeedOptionError(flag: prefix + flag, expected: expected) }
        }
        let tls = connection.tls
        try require(tls.certificateFile == nil || tls.keyFile != nil, "cert-file", "--\(prefix)key-file with it")
        try require(tls.keyFile == nil || tls.certificateFile != nil, "key-file", "--\(prefix)cert-file with it")
        for (index, name) in connection.subprotocols.enumerated() where connection.subprotocols[..<index].contains(name)
        {
            throw FeedOptionError(flag: prefix + "subprotocol", index: index, expected: "each subprotocol once")
        }
        try require(
            connection.reconnectMinimum <= connection.reconnectMaximum, "reconnect-min",
            "at most --\(prefix)reconnect-max, which is \(connection.reconnectMaximum.prometheusText)")
        do throws(SystemError) {
            try replyProgram?.check()
        } catch {
            // A word of the program may be a secret without its quotation marks.
            let words = error.reason.replacing(/[^ ]+ is not (defined|a valid)/) { "a name is not \($0.1)" }
            throw FeedOptionError(flag: prefix + "reply", expected: "a valid jq program: \(words)")
        }
        try checkFiles()
    }

    package var replyProgram: JQProgram? { reply.map { JQProgram($0, output: .texts) } }

    /// Checks the files by reading them as each connection does.
    public func checkFiles() throws(FeedOptionError) {
        do throws(TLSFileError) {
            try connection.tls.check()
        } catch {
            let (flag, content) =
                switch error.role {
                case .authorities: ("ca-file", "certificates of authorities in PEM")
                case .certificate: ("cert-file", "a certificate in PEM")
                case .key: ("key-file", "the certificate's key in PEM, without a pass phrase")
                }
            throw FeedOptionError(flag: prefix + flag, path: error.path, expected: "\(content): \(error.reason)")
        }
        _ = try headerFields()
    }

    /// Returns the fields of the flags, then those of the file's current content: one `Name: value` per line, ignoring
    /// blank lines and lines that begin with `#`.
    public func headerFields() throws(FeedOptionError) -> [HTTPField] {
        guard let headerFile else { return headers }
        func unusable(_ expected: String) -> FeedOptionError {
            FeedOptionError(flag: prefix + "header-file", path: headerFile, expected: expected)
        }
        let content: [UInt8]
        do throws(SystemError) {
            content = try readFile(headerFile, limit: 64 << 10)
        } catch {
            throw unusable("a file that can be read: \(error.reason)")
        }
        let bytes = content.dropFirst(hasByteOrderMark(content.span) ? 3 : 0)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unusable("text in UTF-8") }
        let lines = text.split(omittingEmptySubsequences: false) { ["\n", "\r\n", "\r"].contains($0) }.map(String.init)
        var fields = headers
        for (index, line) in lines.enumerated()
        where line.utf8.first != UInt8(ascii: "#") && !line.utf8.allSatisfy(isBlank) {
            do throws(RejectedText) {
                fields.append(try ValueFormat.headerField.read(line))
            } catch {
                throw unusable("\(error.expected), in line \(index + 1)")
            }
        }
        return fields
    }
}
