public import System

extension Flag {
    public static func logLevel(_ member: any WritableKeyPath<Values, Logger.Level> & Sendable) -> Flag {
        let levels = ValueFormat<Logger.Level>.choice
        // The name in other programs.
        let format = ValueFormat(levels.placeholder, text: levels.text, choices: levels.choices) {
            text throws(RejectedText) in try levels.read(text.lowercased() == "warning" ? "warn" : text)
        }
        return Flag("log.level", member, format, placeholder: "LEVEL", "debug, info, warn or error.")
    }

    public static func logFormat(_ member: any WritableKeyPath<Values, LogFormat> & Sendable) -> Flag {
        Flag("log.format", member, .choice, placeholder: "FORMAT", "logfmt or json.")
    }
}
