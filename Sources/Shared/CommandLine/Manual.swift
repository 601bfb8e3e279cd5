internal import Bytes

/// What a manual page says besides the flags. What stands between back quotes is literal; flags and references such as
/// systemd(1) are found.
public struct Manual: Sendable {
    /// What the program does, in a few words, as whatis(1) shows it.
    public var title = ""
    /// Paragraphs.
    public var description: [String] = []
    /// Variables that are no flags.
    public var environment: KeyValuePairs<String, String> = [:]
    public var files: KeyValuePairs<String, String> = [:]
    public var exitStatuses: KeyValuePairs<String, String> = [:]
    public var signals: KeyValuePairs<String, String> = [:]
    /// Sentences, and the command lines that they introduce.
    public var examples: KeyValuePairs<String, String> = [:]
    public var seeAlso: [String] = []

    public init() {}
}

extension Program {
    /// The text of `--man`: the manual page in man(7).
    /// - Parameter date: seconds since the Unix epoch; nil = none, so that the page depends on the program alone.
    func manualPage(date: Int64?) -> String {
        var page = ManualPage()
        let day = date.map { ManualPage.day($0) } ?? ""
        page.lines = [
            #".\" Written by \#(name) --man"#,
            #".TH \#(ManualPage.escaped(name.uppercased())) 1 "\#(day)" "\#(ManualPage.escaped("\(name) \(version)"))" "#
                + #""User Commands""#,
            // No hyphenation, no stretched lines: easier to read and to search.
            ".nh", ".ad l",
        ]
        page.section("NAME")
        // On one line: whatis(1) reads it.
        page.lines.append(ManualPage.escaped("\(name) - \(manual.title)"))
        page.section("SYNOPSIS")
        for (place, command) in commands.enumerated() {
            if place > 0 { page.lines.append(".br") }
            page.lines.append(ManualPage.synopsis(usage(of: command)))
        }
        page.section("DESCRIPTION")
        page.paragraph(summary)
        for text in manual.description { page.paragraph(text) }
        writeCommands(to: &page)
        writeFlags(to: &page)
        page.section("ENVIRONMENT", unless: environmentPrefix == nil && manual.environment.isEmpty)
        if let rule = environmentRule(for: commands[0]) { page.paragraph(rule) }
        for (name, text) in manual.environment { page.entry(literal: name, text) }
        page.section("FILES", entries: manual.files)
        page.section("EXIT STATUS", entries: manual.exitStatuses)
        page.section("SIGNALS", entries: manual.signals)
        page.section("EXAMPLES", unless: manual.examples.isEmpty)
        for (text, lines) in manual.examples { page.example(text, lines) }
        page.section("SEE ALSO", unless: manual.seeAlso.isEmpty)
        if !manual.seeAlso.isEmpty { page.paragraph(manual.seeAlso.joined(separator: ", ")) }
        return page.lines.joined(separator: "\n") + "\n"
    }

    private func writeCommands(to page: inout ManualPage) {
        page.section("COMMANDS", unless: commands.count == 1)
        for command in commands where !command.name.isEmpty {
            let words = [command.name] + command.operands.map(\.name)
            page.entry(tag: ManualPage.synopsis(words.joined(separator: " ")), command.summary)
        }
    }

    /// Commands with the same flags share them.
    private func writeFlags(to page: inout ManualPage) {
        page.section("OPTIONS")
        for commands in commandsByFlags {
            // Those of a command without a name need none.
            let isShared = commandsByFlags.count == 1 || commands[0].name.isEmpty
            let owners = commands.map(\.name).joined(separator: " and ")
            for (heading, flags) in commands[0].groups {
                page.subsection(isShared ? heading : "\(heading) of \(owners)")
                for flag in flags { page.entry(flag) }
            }
        }
        page.subsection("General")
        for flag in FlagSpec.general { page.entry(flag) }
    }
}

/// The lines of a page in the macros of man(7).
private struct ManualPage {
    var lines: [String] = []

    mutating func section(_ name: String, unless isEmpty: Bool = false) {
        if !isEmpty { lines.append(".SH " + (name.contains(" ") ? "\"\(name)\"" : name)) }
    }

    mutating func section(_ name: String, entries: KeyValuePairs<String, String>) {
        section(name, unless: entries.isEmpty)
        for (tag, text) in entries { entry(literal: tag, text) }
    }

    mutating func subsection(_ name: String, unless isEmpty: Bool = false) {
        if !isEmpty { lines.append(".SS \"\(Self.escaped(name))\"") }
    }

    /// The first one after a heading needs no macro.
    mutating func paragraph(_ text: String) {
        if lines.last?.hasPrefix(".S") != true { lines.append(".PP") }
        append(Self.marked(text))
    }

    mutating func entry(literal tag: String, _ text: String) { entry(tag: Self.bold(tag), text) }

    mutating func entry(_ flag: FlagSpec) {
        let value = flag.placeholder.map { "=\\fI\(Self.escaped($0))\\fR" } ?? ""
        entry(tag: Self.bold("--" + flag.name) + value, flag.help + flag.remark)
    }

    mutating func entry(tag: String, _ text: String) {
        lines += [".TP", tag]
        append(Self.marked(text))
    }

    mutating func example(_ text: String, _ code: String) {
        paragraph(text)
        lines += [".PP", ".RS 4", ".EX"]
        lines += code.split(separator: "\n").map { Self.guarded(Self.escaped(String($0), isLiteral: true)) }
        lines += [".EE", ".RE"]
    }

    private mutating func append(_ text: String) { lines += wrapped(text).map(Self.guarded) }

    /// A line that begins with one of these would be a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    /// Names in bold, what stands for something (in capitals) in italics.
    static func synopsis(_ usage: String) -> String {
        usage.split(separator: " ").map { word in
            let name = word.drop { $0 == "[" }.prefix { $0 != "]" }
            let isVariable = name == "flags" || name.allSatisfy { !$0.isLowercase }
            let (before, after) = name.count == word.count ? ("", "") : ("[", "]")
            return before + (isVariable ? "\\fI\(escaped(String(name)))\\fR" : bold(String(name))) + after
        }.joined(separator: " ")
    }

    static func bold(_ literal: String) -> String { "\\fB\(escaped(literal, isLiteral: true))\\fR" }

    /// Text with its literals, flags and references in bold.
    static func marked(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { place, part in
            guard place % 2 == 0 else { return bold(String(part)) }
            let words = part.split(separator: " ", omittingEmptySubsequences: false)
            return words.map(marked(word:)).joined(separator: " ")
        }.joined()
    }

    /// `--flag`, and `name(1)`, also in parentheses and before a comma or a stop.
    private static func marked(word: Substring) -> String {
        let opening = word.prefix { $0 == "(" }
        let rest = word.dropFirst(opening.count)
        var name = rest.prefix { $0.isLetter || $0.isNumber || "-._".contains($0) }
        if rest.hasPrefix("--") {
            while name.last == "." { name.removeLast() }
        } else {
            let section = Array(rest.dropFirst(name.count).prefix(3))
            guard section.count == 3, section[0] == "(", section[1].isNumber, section[2] == ")"
            else { return escaped(String(word)) }
        }
        guard name.contains(where: \.isLetter) else { return escaped(String(word)) }
        return opening + bold(String(name)) + escaped(String(rest.dropFirst(name.count)))
    }

    /// As roff reads it back: in ASCII, a hyphen as the minus that can be copied to a shell, and in literals no
    /// typographic quotes and accents.
    static func escaped(_ text: String, isLiteral: Bool = false) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "`": escaped += "\\(ga"
            case "\"": escaped += "\\(dq"
            case "'" where isLiteral: escaped += "\\(aq"
            case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
            default: escaped += "\\[u\(hexadecimal(scalar.value, digits: 4, uppercase: true))]"
            }
        }
    }

    /// For example `2026-11-22`.
    static func day(_ seconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.appendRFC3339(min(max(seconds, 0), 253_402_300_799) * 1000)
        return String(decoding: bytes.prefix(10), as: UTF8.self)
    }
}
