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
