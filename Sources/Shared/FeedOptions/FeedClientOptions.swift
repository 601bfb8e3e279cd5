internal import Bytes
public import CommandLine
public import HTTPText
internal import System
public import WebSocket

/// The connection to a feed, as the flags of every program that reads one describe it.
public struct FeedClientOptions: Options {
    public var headers: [HTTPField] = []
    public var headerFile: String?
    /// Names to offer, each once.
    public var subprotocols: [String] = []
    public var subscriptions: [String] = []
    /// Time between two repetitions of the subscriptions; zero sends them once.
    public var subscriptionInterval = Duration.zero
    public var tls = WebSocketTLS()
    public var connectTimeout = Duration.seconds(10)
    /// Time without a byte before a ping; zero disables pings.
    public var pingInterval = Duration.seconds(15)
    public var pongTimeout = Duration.seconds(10)
    /// Time without a whole message before the connection is given up; zero disables it.
    public var idleTimeout = Duration.seconds(300)
    public var reconnectMinimum = Duration.milliseconds(500)
    public var reconnectMaximum = Duration.seconds(30)
    public var maximumMessageBytes = 4 << 20

    public init() {}

    public static let flags: [Flag<Self>] = [
        Flag("header", \.headers, .headerField, secrecy: .whole, "Header field for the handshake."),
        Flag(
            "header-file", \.headerFile, .file,
            "File with header fields for the handshake, one a line; read at each connect."),
        Flag("subprotocol", \.subprotocols, .subprotocol, "WebSocket subprotocol to offer, in order of preference."),
        Flag("subscribe", \.subscriptions, .text, secrecy: .whole, "Text message sent after every connect."),
        Flag(
            "subscribe-interval", \.subscriptionInterval, .duration(),
            "Send the texts of subscribe again this often; 0 sends them once."),
        Flag("ca-file", \.tls.caFile, .file, "Certificate authorities for wss://, PEM; the system's by default."),
        Flag("cert-file", \.tls.certificateFile, .file, "Client certificate for wss://, PEM."),
        Flag("key-file", \.tls.keyFile, .file, "Key of the client certificate, PEM."),
        Flag("insecure-skip-verify", \.tls.skipsVerification, "Do not verify the feed's certificate."),
        Flag("connect-timeout", \.connectTimeout, .timeout, "Maximum time from dialling to the completed handshake."),
        Flag("ping-interval", \.pingInterval, .duration(), "Send a ping after this long without data; 0 disables."),
        Flag("pong-timeout", \.pongTimeout, .timeout, "Disconnect if nothing arrives within this time after a ping."),
        Flag(
            "idle-timeout", \.idleTimeout, .duration(),
            "Reconnect if no complete message arrives within this time; 0 disables."),
        Flag(
            "reconnect-min", \.reconnectMinimum, .timeout,
            "Initial upper bound of the randomised reconnect delay; doubles after each failure."),
        Flag("reconnect-max", \.reconnectMaximum, .timeout, "Maximum upper bound of the reconnect delay."),
        Flag(
            "max-message-bytes", \.maximumMessageBytes, .bytes(in: 1...(1 << 30)),
            "Maximum size of a message; longer ones are rejected and counted."),
    ]
}

extension FeedClientOptions {
    /// The flag of a member, as the user writes it.
    public typealias FlagName = @Sendable (PartialKeyPath<FeedClientOptions>) -> String

    /// Checks the options together, and the files as each connection reads them.
    public func check(_ flag: FlagName) throws(FeedOptionError) {
        if tls.certificateFile != nil, tls.keyFile == nil {
            throw FeedOptionError(member: \.tls.certificateFile, expected: "\(flag(\.tls.keyFile)) with it")
        }
        if tls.keyFile != nil, tls.certificateFile == nil {
            throw FeedOptionError(member: \.tls.keyFile, expected: "\(flag(\.tls.certificateFile)) with it")
        }
        for (index, name) in subprotocols.enumerated() where subprotocols[..<index].contains(name) {
            throw FeedOptionError(member: \.subprotocols, index: index, expected: "each subprotocol once")
        }
        if reconnectMinimum > reconnectMaximum {
            let maximum = "\(flag(\.reconnectMaximum)), which is \(reconnectMaximum.prometheusText)"
            throw FeedOptionError(member: \.reconnectMinimum, expected: "at most \(maximum)")
        }
        try checkFiles()
    }

    /// Reads the files as each connection does.
    public func checkFiles() throws(FeedOptionError) {
        do throws(TLSFileError) { try tls.check() } catch { throw FeedOptionError(error) }
        _ = try headerFields()
    }

    private static let maximumFileBytes = 64 << 10

    /// The fields of the flags, then those of the file as it is now: `Name: value` a line; blank lines and lines that
    /// begin with `#` are passed over.
    public func headerFields() throws(FeedOptionError) -> [HTTPField] {
        guard let headerFile else { return headers }
        func unusable(_ expected: String) -> FeedOptionError {
            FeedOptionError(member: \.headerFile, path: headerFile, expected: expected)
        }
        let content: [UInt8]
        do throws(SystemError) {
            content = try readFile(headerFile, limit: Self.maximumFileBytes)
        } catch {
            throw unusable("a file that can be read: \(error.reason)")
        }
        let lines = String(decoding: content, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var fields = headers
        for (index, line) in lines.enumerated() {
            if line.first == "#" || line.utf8.allSatisfy(isBlank) { continue }
            guard let field = HTTPField(line: String(line)) else {
                throw unusable("\"Name: value\" in line \(index + 1)")
            }
            if field.isReserved { throw unusable("\(field.expectedInstead), in line \(index + 1)") }
            fields.append(field)
        }
        return fields
    }
}
