public import System

extension Flag {
    public static func logLevel(_ member: any WritableKeyPath<Values, Logger.Level> & Sendable) -> Flag {
        Flag("log.level", member, .logLevel, placeholder: "LEVEL", "debug, info, warn or error.")
    }

    public static func logFormat(_ member: any WritableKeyPath<Values, LogFormat> & Sendable) -> Flag {
        Flag("log.format", member, .choice, placeholder: "FORMAT", "logfmt or json.")
    }
}

extension ValueFormat<Logger.Level> {
    static var logLevel: Self {
        one(
            of: Logger.Level.allCases, named: { $0.name.lowercased() }, expected: "debug, info, warn or error",
            otherNames: ["warning": .warning])
    }
}
