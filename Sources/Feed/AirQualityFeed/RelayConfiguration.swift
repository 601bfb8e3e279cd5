import Bytes
import CommandLine
import System
import WebSocket

/// What `relay` is told by its flags, checked.
struct RelayConfiguration {
    let listen: TCPAddress
    let shards: Int
    let cityField: String
    let valueField: String
    /// Zero: cities are kept for ever.
    let expireAfter: Duration
    let client: WebSocketClientConfiguration
    let webListenAddresses: [ListenAddress]
    let logLevel: Logger.Level
    let logFormat: LogFormat

    init(_ flags: ParsedFlags) throws {
        let options: RelayOptions = try flags.options()
        listen = options.listen
        shards = options.shards
        cityField = options.cityField
        valueField = options.valueField
        expireAfter = options.expireAfter
        webListenAddresses = options.webListenAddresses
        (logLevel, logFormat) = (options.logLevel, options.logFormat)
        var client = WebSocketClientConfiguration(address: try feedAddress(of: flags))
        client.tls = options.tls
        client.idleTimeout = options.idleTimeout
        client.reconnectMaximum = options.reconnectMaximum
        client.maximumMessageBytes = options.maximumMessageBytes
        client.headers = { options.headerFields }
        try Self.check(options, flags)
        self.client = client
    }

    /// Errors at the start, not at the first connection.
    private static func check(_ options: RelayOptions, _ flags: ParsedFlags) throws {
        do throws(HeaderFileError) {
            if let file = options.headerFile { _ = try HTTPField.read(file) }
        } catch {
            throw flags.refusal(of: \RelayOptions.headerFile, expected: error.expected())
        }
        do throws(WebSocketTLSError) {
            try options.tls.check()
        } catch {
            switch error.source {
            case .authorities: throw flags.refusal(of: \RelayOptions.tls.caFile, expected: error.expected)
            case .certificate: throw flags.refusal(of: \RelayOptions.tls.certificateFile, expected: error.expected)
            case .key: throw flags.refusal(of: \RelayOptions.tls.keyFile, expected: error.expected)
            }
        }
    }
}

/// The operand that names a feed.
func feedAddress(of flags: ParsedFlags) throws(FlagError) -> WebSocketAddress {
    do throws(WebSocketAddressError) {
        return try WebSocketAddress(flags.operands[0])
    } catch {
        let shown = quoted(masked(address: flags.operands[0]))
        throw FlagError("URL \(shown): \(error), expected ws://host:port/path or wss://host:port/path")
    }
}

extension RelayOptions {
    /// Those of the flags, then those of the file as it is now.
    var headerFields: Result<[HTTPField], SystemError> {
        guard let headerFile else { return .success(headers) }
        do throws(HeaderFileError) {
            return .success(headers + (try HTTPField.read(headerFile)))
        } catch {
            let flag = Self.flag(\.headerFile)
            return .failure(SystemError(.file, "\(flag) \(quoted(headerFile)): expected \(error.expected())"))
        }
    }
}

extension ValueFormat<HTTPField> {
    static var headerField: Self {
        Self(
            "NAME: VALUE",
            expected: { HTTPField(line: $0)?.expectedInstead ?? "\"Name: value\" on one line" },
            parse: { HTTPField(line: $0).flatMap { $0.isReserved ? nil : $0 } })
    }
}
