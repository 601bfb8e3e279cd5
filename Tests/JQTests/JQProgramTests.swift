import Glibc
import System
import TestSupport
import Testing

@testable import JQ

/// The results of the programs, in one worker, for each message and its form, or `error: ` and the error.
private func results(of programs: [JQProgram], _ inputs: [(program: Int, String, JQProgram.Input)]) -> [String] {
    var results: [String] = []
    do {
        var process = try JQProcess(programs, messageBytes: 1, executable: builtProgram("air-quality-exporter"))
        for (index, message, input) in inputs {
            let bytes = Array(message.utf8)
            do {
                if programs[index].output == .texts {
                    let texts = try process.texts(index, for: bytes.span, as: input)
                    results.append(texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|"))
                } else {
                    results.append(
                        String(decoding: try process.elements(index, of: bytes.span, as: input), as: UTF8.self))
                }
            } catch {
                results.append("error: \(error)")
            }
        }
    } catch {
        results.append("error: \(error)")
    }
    return results
}

private func results(of program: String, _ messages: [String]) -> [String] {
    results(of: [JQProgram(program)], messages.map { (0, $0, .json) })
}

struct JQProgramTests {
    @Test(
        arguments: [
            (".", #"{"city":"Pune","aqi":51.5}"#, #"[{"city":"Pune","aqi":51.5}]"#),
            (".data", #"{"data":[{"a":1},{"a":2}]}"#, #"[{"a":1},{"a":2}]"#),
            (".[]", #"[{"a":1},[{"a":2},{"a":3}],[]]"#, #"[{"a":1},{"a":2},{"a":3}]"#),
            (
                ".data | to_entries[] | {city: .key, aqi: .value.aqi}", #"{"data":{"Pune":{"aqi":51}}}"#,
                #"[{"city":"Pune","aqi":51}]"#
            ),
            (#"select(.type == "aqi_update") | .data"#, #"{"type":"heartbeat"}"#, ""),
            ("empty", "[]", ""), (".[]", "[[],[]]", ""), (".", "", ""), (".a", "{\"a\":1}\n{\"a\":2}", "[1,2]"),
            (".", #"["é😀",190.77381882356204]"#, #"["é😀",190.77381882356204]"#),
            (".", "\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}", #"[{"a":1},{"a":2}]"#),
            (".", "null", "[null]"),
            ("halt", "[1]", ""), ("., halt", "{}", "[{}]"), ("debug, stderr", "{}", "[{},{}]"),
            ("[input_filename, $__loc__.line]", "{}", "[null,1]"),
        ])
    func `The results of a jq program form one array, flattened once`(
        program: String, message: String, expected: String
    ) {
        #expect(results(of: program, [message]) == [expected])
    }

    @Test(
        arguments: [
            (".", #"42["aqi",[]]"#, #"["42[\"aqi\",[]]"]"#), (".", "", #"[""]"#),
            (".", " \u{1E}\n", #"[" \u001e\n"]"#),
            (".", "\u{FEFF}a\u{FEFF}", "[\"a\u{FEFF}\"]"), ("length", "a\0b", "[3]"), ("fromjson", "{", "error: "),
            (
                #"select(startswith("42")) | .[2:] | fromjson | .[1]"#, #"42["aqi",[{"city":"Pune","aqi":51}]]"#,
                #"[{"city":"Pune","aqi":51}]"#
            ), (#"select(startswith("42"))"#, "2", ""),
        ])
    func `A message can be a string`(program: String, message: String, expected: String) {
        let results = results(of: [JQProgram(program)], [(0, message, .string)])
        #expect(results.count == 1 && results[0].hasPrefix(expected), "\(results)")
    }

    /// The texts to send, separated by `|`.
    @Test(
        arguments: [
            (#"select(. == 2) | "3""#, "2", .json, "3"), (#"select(. == 2) | "3""#, "3", .json, ""),
            (#"select(. == 2) | "3""#, "2 2\n1", .json, "3|3"),
            (#"{id: 1, a: ["é"]}"#, "1", .json, #"{"id":1,"a":["é"]}"#),
            (#"[], "", null, empty, "a\u0000b""#, "1", .json, "[]||a\0b"), (".", "hello \"x\"", .string, "hello \"x\""),
            // `null` means the beginning of a connection, and is not taken from a server.
            ("if . == null then \"hi\" else empty end", "", .null, "hi"),
            ("if . == null then \"hi\" else empty end", "null", .json, ""),
            ("tojson", "1 null \"a\"\nnull", .json, #"1|"a""#),
            ("1", "0", .json, "error: a number, true or false cannot be sent; a string, object or array can"),
            (#""a", true"#, "0", .json, "error: a number, true or false cannot be sent; a string, object or array can"),
            (#"range(16) | "a""#, "0", .json, "a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a"),
            (#"range(17) | "a""#, "0", .json, "error: more than 16 texts or 64 KiB for a message"),
            (#""a""#, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", .json, "error: more than 16 texts or 64 KiB"),
            (#""a" * 65537"#, "0", .json, "error: more than 16 texts or 64 KiB for a message"),
            (#"("é" * 16384), ("é" * 16384) | length | tojson"#, "0", .json, "16384|16384"),
            (#"("é" * 16384), ("é" * 16384), "a""#, "0", .json, "error: more than 16 texts or 64 KiB for a message"),
            (#"error("no")"#, "0", .json, "error: no"), ("repeat(null)", "0", .json, "error: more than 100000 results"),
        ] as [(String, String, JQProgram.Input, String)])
    func `A program's texts are its strings, and its objects and arrays as JSON`(
        program: String, message: String, input: JQProgram.Input, expected: String
    ) {
        let results = results(of: [JQProgram(program, output: .texts)], [(0, message, input)])
        #expect(results.count == 1 && results[0].hasPrefix(expected) && (expected.isEmpty == results[0].isEmpty))
    }

    @Test func `One worker runs two programs, whose errors and ends do not affect each other`() {
        let programs = [JQProgram("if . == 7 then def f: f; f else .a end"), JQProgram(".b", output: .texts)]
        let message = #"{"a":{"b":1},"b":"x"}"#
        let results = results(
            of: programs,
            [(1, message, .json), (0, message, .json), (1, "1", .json), (0, "7", .json), (1, message, .json)])
        #expect(results[0] == "x" && results[1] == #"[{"b":1}]"# && results[4] == "x")
        #expect(results[2].contains("Cannot index number") && results[3].contains("more than 1 s"), "\(results)")
    }

    @Test(
        arguments: [
            ("input", "input", 1, 1), ("[.a, inputs]", "inputs", 1, 6), ("$ENV.PATH", "$ENV", 1, 2),
            (".a |\n  env.PATH", "env", 2, 3), (#"import "a" as a; ."#, "import", 1, 1),
            (#"include "/etc/passwd"; ."#, "include", 1, 1), (#"{a: input}"#, "input", 1, 5),
            (#"{(input): 1}"#, "input", 1, 3), (#""é\(.a + "\(input)")""#, "input", 1, 13), ("{$ENV}", "$ENV", 1, 3),
            ("first(inputs)", "inputs", 1, 7), (#""a" | modulemeta"#, "modulemeta", 1, 7),
            ("def input_: 1; input", "input", 1, 16),
        ])
    func `What cannot work is refused by its name and its position`(
        program: String, name: String, line: Int, column: Int
    ) {
        let results = results(of: program, ["{}"])
        #expect(results[0].hasPrefix("error: \(name) cannot be used: "), "\(results)")
        #expect(results[0].hasSuffix(", at line \(line), column \(column)"), "\(results)")
    }

    @Test(
        arguments: [
            (".input", "[1]"), (".a.env?", "[null]"), ("{input: 1, env: 2} | keys", #"["env","input"]"#),
            ("{input}", #"[{"input":1}]"#), ("{a: 1, env: 2} | .env", "[2]"), (#""input, env""#, #"["input, env"]"#),
            (#""\("env")""#, #"["env"]"#), (".input # | input\n", "[1]"), ("def input: 3; input", "[3]"),
            ("def f(env): env; f(4)", "[4]"), (". as {input: $input} | $input", "[1]"), ("1e5 + 0", "[100000]"),
            (#"."input""#, "[1]"), (#".["input"]"#, "[1]"), ("[.input, $__loc__.line] | .[0]", "[1]"),
        ])
    func `Names of fields, keys and definitions are not refused`(program: String, expected: String) {
        #expect(results(of: program, [#"{"input":1}"#]) == [expected])
    }

    @Test func `A prelude is known to a program, and not counted in the lines of errors`() {
        func result(_ program: String) -> String {
            results(of: [JQProgram(program, prelude: "def one: 1;\ndef two: one + one;\n")], [(0, "3", .json)])[0]
        }
        #expect(result("two + .") == "[5]")
        #expect(result("def two: 7; two") == "[7]")
        #expect(result(". |\n three") == "error: three/0 is not defined at <top-level>, line 2, column 2")
        #expect(result(".a |").contains(" at <top-level>, line 1"))
    }

    @Test(
        arguments: [
            (".data[", "syntax error"), ("foo(1)", "foo/1 is not defined"),
            ("1 as $x | 2 as", "syntax error"),
        ])
    func `A program that does not compile is reported on one line in jq's own words`(program: String, words: String) {
        let reason = results(of: program, [])[0]
        #expect(reason.contains(words) && !reason.contains("jq: "), "\(reason)")
        #expect(!reason.contains { $0.isNewline })
    }

    @Test(
        arguments: [
            (".a[]", #"{"a":1}"#, "Cannot iterate over number"), (#"error("no" + " air")"#, "{}", "error: no air"),
            ("error({a: 1})", "{}", #"error: {"a":1}"#), (#""x" | halt_error"#, "{}", "error: x"),
            (".", "{", "Unfinished"), (".", String(repeating: "[", count: 12000), "depth"),
            ("range(200000)", "{}", "more than 100000 results"),
            // Programs that never end.
            ("def f: f; f", "2", "more than 1 s for a message"), ("[range(1e12)]", "2", "for a message"),
            (#"[limit(1e9; repeat("x"))]"#, "2", "for a message"), ("[recurse(. + 1)]", "2", "for a message"),
            ("[range(1e9)] | add", "2", "for a message"),
            (#"reduce range(40) as $i ("x"; . + .)"#, "2", "for a message"),
            (#""x" * (. * 5e8)"#, "2", "for a message"), ("reduce range(1e6) as $i (null; [.])", "2", "for a message"),
            ("def f: [f]; f", "2", "for a message"),
            (#"reduce range(21) as $i ("x"; . + .)"#, "2", "more than 1 MiB of results"),
        ])
    func `A failing or endless program loses only the current message`(
        program: String, message: String, words: String
    ) throws {
        let results = results(of: "if . == 1 then {} else (\(program)) end", [message, "1", "1"])
        try #require(results.count == 3, "\(results)")
        #expect(results[0].contains(words), "\(results)")
        #expect(results[1...] == ["[{}]", "[{}]"])
    }

    @Test func `A worker that is stopped, or is no worker, is reported as such`() throws {
        let executable = try builtProgram("air-quality-exporter")
        #expect(throws: SystemError(.system, "cannot start /bin/true as a worker: it does not serve __jq")) {
            _ = try JQProcess([JQProgram(".")], executable: "/bin/true")
        }
        var process = try JQProcess([JQProgram(".")], executable: executable)
        let worker = process.workerID
        try #require(worker != nil)
        kill(worker ?? 0, SIGSTOP)
        var reason = ""
        do { _ = try process.elements(0, of: Array("1".utf8).span, as: .json) } catch { reason = error.reason }
        #expect(reason == "the program's process is stopped")
        let next = try process.elements(0, of: Array("1".utf8).span, as: .json)
        #expect(next == Array("[1]".utf8))
    }

    @Test(arguments: ["18446744073709551615", "-1", "x", "1099511627777"])
    func `A worker's memory limit is checked`(_ limit: String) {
        #expect(JQWorker.run([JQWorker.command, limit]) == 2)
    }
}
