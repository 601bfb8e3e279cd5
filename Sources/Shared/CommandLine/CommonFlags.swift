public import System

extension Flag {
    public static func logLevel(_ member: any WritableKeyPath<Values, Logger.Level> & Sendable) -> Flag {
        let format = ValueFormat.one(of: Logger.Level.allCases, named: { $0.name.lowercased() })
        return Flag("log.level", member, format, placeholder: "LEVEL", "debug, info, warn or error.")
    }

    public static func logFormat(_ member: any WritableKeyPath<Values, LogFormat> & Sendable) -> Flag {
        Flag("log.format", member, .choice, placeholder: "FORMAT", "logfmt or json.")
    }
}

extension ValueFormat<ListenAddress> {
    public static var listenAddress: Self {
        Self("ADDRESS", expected: "host:port, [::1]:port, :port or unix:/path", text: \.description) {
            try? ListenAddress($0)
        }
    }
}

extension ParsedFlags {
    /// Warns of variables that look like those of flags and name none.
    public func logUnknownVariables(to logger: Logger) {
        guard !unknownVariables.isEmpty else { return }
        let more = unknownVariables.count > 10 ? " and \(unknownVariables.count - 10) more" : ""
        logger.warning(
            "Variables that name no flag are ignored",
            metadata: ["variables": unknownVariables.prefix(10).joined(separator: " ") + more])
    }
}
