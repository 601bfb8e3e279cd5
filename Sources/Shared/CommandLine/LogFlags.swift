public import System

extension Flag {
    public static func logLevel(_ member: any WritableKeyPath<Values, Logger.Level> & Sendable) -> Flag {
        Flag("log.level", member, .logLevel, placeholder: "LEVEL", "debug, info, warn or error.")
    }

    public static func logFormat(_ member: any WritableKeyPath<Values, LogFormat> & Sendable) -> Flag {
        Flag("log.format", member, .choice, placeholder: "FORMAT", "logfmt or json.")
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

extension ValueFormat<Logger.Level> {
    static var logLevel: Self {
        one(
            of: Logger.Level.allCases, named: { $0.name.lowercased() }, expected: "debug, info, warn or error",
            otherNames: ["warning": .warning])
    }
}
