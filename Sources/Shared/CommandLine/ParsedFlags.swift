public import System

/// The flags and operands of a well-formed command line. The values of flags are not checked before `options()`.
public struct ParsedFlags: Sendable {
    public let command: Command
    /// As many as the command declares.
    public let operands: [String]
    /// Environment variables that look like those of flags but match none.
    public let unknownVariables: [String]
    let given: [String: GivenFlag]

    /// The end of an error about a missing value: unknown variables that may have been meant; empty if there are none.
    public var misspeltVariables: String {
        unknownVariables.isEmpty
            ? "" : "; unknown environment variable: " + unknownVariables.prefix(3).joined(separator: ", ")
    }

    /// Returns the given values, and defaults for the rest. `Values` must be the options of the command.
    public func options<Values: Options>(_: Values.Type = Values.self) throws(FlagError) -> Values {
        var values = Values()
        for flag in Values.flags {
            do throws(RejectedText) {
                if let given = given[flag.name] { try flag.store(given.values, &values) }
            } catch {
                throw rejection(of: flag.name, error.text, expected: error.expected)
            }
        }
        return values
    }

    /// Returns whether the command line or the environment sets the flag, which is named without its dashes.
    public func isGiven(_ flag: String) -> Bool { given[flag] != nil }

    /// Returns the flags given as arguments, not by variables, as arguments for another command line, without `others`.
    /// Secret values are `…`.
    public func words(without others: Set<String>) -> [String] {
        var words: [String] = []
        for flag in command.flags where !others.contains(flag.name) {
            guard let given = given[flag.name], given.origin.hasPrefix("--") else { continue }
            words += given.values.map { "--\(flag.name)=\(flag.secrecy == .open ? $0 : "…")" }
        }
        return words
    }

    /// Returns the origin of the flag's value for an error: the flag with its dashes, or an environment variable.
    public func origin(of flag: String) -> String { given[flag]?.origin ?? "--" + flag }

    /// Returns the error for a well-formed value that is unusable, perhaps only in combination with others.
    ///
    /// - Parameters:
    ///   - index: selects one of several values of the flag.
    ///   - expected: what is valid; it must not repeat secrets of the value.
    public func rejection(of flag: String, at index: Int? = nil, expected: String) -> FlagError {
        rejection(of: flag, index.flatMap { given[flag]?.values[$0] }, expected: expected)
    }

    /// Returns the result of an operation on the flag's value. An error is appended to `expected` and names the flag.
    public func using<Result: ~Copyable>(
        _ flag: String, expected: String, _ result: @autoclosure () throws -> Result
    ) throws(FlagError) -> Result {
        do { return try result() } catch {
            throw rejection(of: flag, expected: "\(expected): \(error)")
        }
    }

    private func rejection(of name: String, _ text: String?, expected: String) -> FlagError {
        let flag = command.flags.first { $0.name == name }
        let text = text ?? given[name]?.values.last ?? flag?.defaultText
        // A switch that is given without a value counts as true.
        if let flag, let text, !flag.isSwitch || text != "true" {
            // A header field's own error mentions them.
            let marks = flag.secrecy == .whole ? "" : quotationMarks(around: text)
            return FlagError("\(origin(of: name)) \(flag.shown(text)): expected \(expected)\(marks)")
        }
        return FlagError("\(origin(of: name)): expected \(expected)" + (given[name] == nil ? misspeltVariables : ""))
    }

    public func logUnknownVariables(to logger: Logger) {
        guard !unknownVariables.isEmpty else { return }
        logger.warning(
            "Variables that name no flag are ignored", metadata: ["variables": unknownVariables.joined(separator: " ")])
    }
}

/// Returns the end of an error about a value in quotation marks, as files for `docker --env-file` give it; else empty.
public func quotationMarks(around text: String) -> String {
    let isInMarks = ["\"", "'"].contains { text.count > 1 && text.hasPrefix($0) && text.hasSuffix($0) }
    return isInMarks ? "; the quotation marks are part of the value" : ""
}

/// The values of a flag and their origin: `--flag`, or the name of an environment variable.
struct GivenFlag: Sendable {
    var values: [String]
    var origin: String
}

/// The action that a command line requests.
public enum Invocation: Sendable {
    /// Prints a text: help or version.
    case text(String)
    case run(ParsedFlags)
}
