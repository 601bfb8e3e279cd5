import TestSupport
import Testing

@testable import CommandLine

/// A program whose texts hold what roff and the shells could take for theirs.
private let odd = Program(
    name: "odd-program", version: "1.2.3", summary: ".Begins with a stop; µg/m³, C:\\path and it's 5^2 ~ 25.",
    environmentPrefix: "ODD_",
    commands: [
        Command(summary: "Runs.", options: OddOptions.self),
        Command(name: "check", summary: "Checks what [it] is: done.", options: OddOptions.self),
        Command(
            name: "play", summary: "Plays a file", operands: [Operand("FILE", .files), "KEY"],
            options: PlayOptions.self),
    ],
    manual: {
        var manual = Manual()
        manual.title = "show what a table can say"
        manual.description = [
            "See systemd.socket(5), (f(1)) and --log.level. Not flags: -- and -x, and not a page: f(x).",
            "`'quoted' \"text\"` is literal, as is `.TH`, and so is `a -- b`.",
        ]
        manual.environment = ["OTHER, ANOTHER": "Not flags."]
        manual.files = ["/etc/odd-program": "Its file."]
        manual.exitStatuses = ["0": "Well.", "1": "Not well."]
        manual.signals = ["SIGTERM": "End."]
        manual.examples = ["In two lines, one with a stop:": "odd-program --quiet \\\n.TH `it's`"]
        manual.seeAlso = ["sample(1)", "roff(7)"]
        return manual
    }())

private enum Level: String, CaseIterable {
    case high, low
}

private struct OddOptions: Options {
    var level = Level.high
    var levels: [Level] = []
    var file: String?
    var isQuiet = false
    var text = "it's"

    static let headings = ["log": "Log"]
    static let flags: [Flag<Self>] = [
        Flag("text", \.text, .text, "what's said: [anything] \\ else, 'quoted'"),
        Flag("file", \.file, .file, "where -- if not --text"),
        Flag("quiet", \.isQuiet, "say less"),
        Flag("log.level", \.level, .choice, placeholder: "LEVEL", "how much"),
        Flag("log.extra-levels", \.levels, .choice, placeholder: "A: B", "more of them"),
    ]
}

struct ManualTests {
    @Test(arguments: [(nil, "odd-program.1"), (1_795_340_000, "odd-program-dated.1")] as [(Int64?, String)])
    func `A manual page is the table of flags in roff`(date: Int64?, golden: String) throws {
        try expectGolden(Array(odd.manualPage(date: date).utf8), named: golden)
    }

    @Test func `A page that needs nothing has no empty section`() {
        let sections = sample.manualPage(date: nil).split(separator: "\n").filter { $0.hasPrefix(".SH") }
        #expect(
            sections == [
                ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH COMMANDS", ".SH OPTIONS", ".SH ENVIRONMENT",
            ])
    }

    @Test(
        arguments: [
            (["SOURCE_DATE_EPOCH": "0"], "1970-01-01"), (["SOURCE_DATE_EPOCH": "1795340000"], "2026-11-22"),
            (["SOURCE_DATE_EPOCH": "soon"], ""), ([:], ""), (["SOURCE_DATE_EPOCH": "99999999999999999"], "9999-12-31"),
        ] as [([String: String], String)])
    func `The date of a page is that of its build, or none`(environment: [String: String], date: String) throws {
        guard case .text(let page) = try odd.parse(arguments: ["--man"], environment: { environment[$0] }) else {
            Issue.record("no manual")
            return
        }
        #expect(page.contains("\n.TH ODD\\-PROGRAM 1 \"\(date)\" \"odd\\-program 1.2.3\" \"User Commands\"\n"))
    }
}

struct CompletionTests {
    @Test(arguments: Shell.allCases) func `A completion is the table of flags in a shell's words`(shell: Shell) throws {
        try expectGolden(Array(odd.completion(for: shell).utf8), named: "odd-program.\(shell.rawValue)")
    }

    @Test func `A program without commands completes its operands`() {
        let lone = Program(
            name: "lone", summary: "Plays.",
            commands: [Command(summary: "Plays.", operands: [Operand("FILE", .files)], options: PlayOptions.self)])
        #expect(lone.completion(for: .bash).contains("            :0) files=1 ;;\n"))
        #expect(lone.completion(for: .zsh).contains("        ('') _arguments -C -S : $flags '1:FILE:_files' ;;\n"))
        #expect(lone.completion(for: .fish).contains("complete -c lone -n \"__lone_is_operand ''\" -F\n"))
    }
}
