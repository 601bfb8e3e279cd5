import JQ
import TestSupport
import Testing

/// The results of the program for each message, or `error: ` and the error.
private func results(of program: String, _ messages: [String]) -> [String] {
    var results: [String] = []
    do {
        var program = try JQProgram(program, messageBytes: 1, executable: builtProgram("air-quality-exporter"))
        for message in messages {
            let bytes = Array(message.utf8)
            do {
                results.append(String(decoding: try program.run(bytes.span), as: UTF8.self))
            } catch {
                results.append("error: \(error)")
            }
        }
    } catch {
        results.append("error: \(error)")
    }
    return results
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
            ("halt", "[1]", ""), ("., halt", "{}", "[{}]"), ("debug, stderr", "{}", "[{},{}]"),
            ("[env, $ENV, input_filename]", "{}", "[{},{},null]"),
        ])
    func `The results of a jq program form one array, flattened once`(
        program: String, message: String, expected: String
    ) {
        #expect(results(of: program, [message]) == [expected])
    }

    @Test(
        arguments: [
            (".data[", "syntax error"), ("foo(1)", "foo/1 is not defined"),
            (#"import "a" as a; ."#, "module not found"),
            (#"include "/etc/passwd"; ."#, "module not found"), (#"import "a" as $a; ."#, "module not found"),
        ])
    func `A program that does not compile is reported on one line in jq's own words`(program: String, words: String) {
        let reason = results(of: program, [])[0]
        #expect(reason.contains(words) && !reason.contains("jq: "), "\(reason)")
        #expect(!reason.contains { $0.isNewline })
    }

    @Test(
        arguments: [
            (".a[]", #"{"a":1}"#, "Cannot iterate over number"), (#"error("no" + " air")"#, "{}", "error: no air"),
            ("error({a: 1})", "{}", #"error: {"a":1}"#), ("input", "{}", "no further input"),
            ("[inputs]", "{}", "no further input"), (#""x" | halt_error"#, "{}", "error: x"),
            (".", "{", "Unfinished"), (".", String(repeating: "[", count: 12000), "depth"),
            ("range(200000)", "{}", "more than 100000 results"),
            // Programs that never end.
            ("def f: f; f", "2", "more than 1 s or 64 MiB"), ("[range(1e12)]", "2", "for a message"),
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
}
