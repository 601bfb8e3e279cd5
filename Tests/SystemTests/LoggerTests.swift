import Foundation
import System
import TestSupport
import Testing

struct LoggerTests {
    func lines(
        _ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .info, format: LogFormat = .logfmt
    ) -> String {
        let lines = WrittenLines()
        Logger(format: format, now: { 1_795_236_585_252 }, write: lines.append)
            .log(level: level, message, metadata: metadata)
        return lines.text
    }

    @Test(
        arguments: [
            ("connected", [:], "connected"),
            ("feed lost", [:], #""feed lost""#),
            ("a=b", [:], #""a=b""#),
            ("", [:], #""""#),
            (#"say "no""#, [:], #""say \"no\"""#),
            (#"back\slash"#, [:], #"back\slash"#),
            (#"back\ slash"#, [:], #""back\\ slash""#),
            ("a\nlevel=ERROR msg=forged", [:], #""a\nlevel=ERROR msg=forged""#),
            ("\u{7}\t\n\r\u{0}\u{1B}\u{7F}", [:], #""\u0007\t\n\r\u0000\u001b\u007f""#),
            ("\u{85}\u{9B}", [:], #""\u0085\u009b""#),
            ("\u{202E}\u{2028}\u{FEFF}", [:], #""\u202e\u2028\ufeff""#),
            ("\u{A0}", [:], "\"\u{A0}\""),
            ("\u{E0001}", [:], #""\udb40\udc01""#),
            ("Zürich", [:], "Zürich"),
            ("दिल्ली 😀", [:], #""दिल्ली 😀""#),
            (String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self), [:], "\"a\u{FFFD}b\""),
            ("m", ["b": "2", "a": "1", "C": "x y"], #"m b=2 a=1 C="x y""#),
            ("m", ["a key": "v", "": "e"], #"m "a key"=v ""=e"#),
        ] as [(String, Logger.Metadata, String)])
    func `A logfmt line quotes ambiguous values`(message: String, metadata: Logger.Metadata, expected: String) {
        #expect(lines(message, metadata) == "time=2026-11-21T04:49:45.252Z level=INFO msg=\(expected)\n")
    }

    @Test(
        arguments: [
            ("connected", [:], #""connected""#),
            (#"say "no"\"#, [:], #""say \"no\"\\""#),
            ("a\nb\tc\rd\u{0}\u{1B}\u{7F}\u{85}", [:], #""a\nb\tc\rd\u0000\u001b\u007f\u0085""#),
            ("\u{2028}\u{2029}", [:], #""\u2028\u2029""#),
            ("<é & 😀>", [:], #""<é & 😀>""#),
            ("m", ["b": "2", "a": "1"], #""m","b":"2","a":"1""#),
        ] as [(String, Logger.Metadata, String)])
    func `A JSON log line is one object`(message: String, metadata: Logger.Metadata, expected: String) throws {
        let line = lines(message, metadata, format: .json)
        #expect(line == #"{"time":"2026-11-21T04:49:45.252Z","level":"INFO","msg":"# + expected + "}\n")
        let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(parsed?["msg"] as? String == message)
    }

    @Test func `No character breaks a log line in two`() {
        for value in 0...0x3000 {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            for format in LogFormat.allCases {
                let line = lines("a\(scalar)b", format: format)
                #expect(line.utf8.count { $0 < 0x20 || $0 == 0x7F } == 1, "U+\(String(value, radix: 16))")
            }
        }
    }

    @Test(arguments: zip(Logger.Level.allCases, ["DEBUG INFO WARN ERROR", "INFO WARN ERROR", "WARN ERROR", "ERROR"]))
    func `Lines below the log level are not written`(level: Logger.Level, expected: String) {
        let lines = WrittenLines()
        let logger = Logger(level: level, now: { 0 }, write: lines.append)
        logger.debug("m")
        logger.info("m")
        logger.warning("m")
        logger.error("m")
        let levels = lines.text.split(separator: "\n").map { $0.split(separator: " ")[1].dropFirst(6) }
        #expect(levels.joined(separator: " ") == expected)
    }
}
