import CommandLine
import Foundation
import Logging
import Synchronization
import Testing

@testable import AirQualityExporter

@Suite struct LogLineTests {
    static func line(_ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .info) -> LogLine {
        LogLine(
            time: 1_795_236_585_252, level: level, file: "AirQualityExporter/Feeds.swift", line: 7, message: message,
            metadata: metadata)
    }

    static let prefix = "time=2026-11-21T04:49:45.252Z level=INFO source=Feeds.swift:7 msg="

    @Test(
        "logfmt",
        arguments: [
            ("connected", [:], "connected"),
            ("feed lost", [:], #""feed lost""#),
            ("a=b", [:], #""a=b""#),
            ("", [:], #""""#),
            (#"say "no""#, [:], #""say \"no\"""#),
            (#"back\slash"#, [:], #"back\slash"#),
            (#"back\ slash"#, [:], #""back\\ slash""#),
            ("a\nlevel=ERROR msg=forged", [:], #""a\nlevel=ERROR msg=forged""#),
            ("\u{7}\u{8}\t\n\u{B}\u{C}\r\u{0}\u{1B}\u{7F}", [:], #""\a\b\t\n\v\f\r\x00\x1b\x7f""#),
            ("\u{85}\u{9B}", [:], #""\u0085\u009b""#),
            ("\u{202E}\u{2028}\u{A0}\u{FEFF}", [:], #""\u202e\u2028\u00a0\ufeff""#),
            ("\u{E0001}", [:], #""\U000e0001""#),
            ("Zürich", [:], "Zürich"),
            ("दिल्ली 😀", [:], #""दिल्ली 😀""#),
            (String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self), [:], "\"a\u{FFFD}b\""),
            ("m", ["b": "2", "a": "1", "C": "x y"], #"m C="x y" a=1 b=2"#),
            (
                "m", ["time": "t", "level": "l", "source": "s", "msg": "m"],
                "m logged_level=l logged_msg=m logged_source=s logged_time=t"
            ),
            ("m", ["a key": "v", "": "e"], #"m ""=e "a key"=v"#),
            ("m", ["n": .stringConvertible(5), "b": .stringConvertible(true)], "m b=true n=5"),
        ] as [(String, Logger.Metadata, String)])
    func logfmt(message: String, metadata: Logger.Metadata, expected: String) {
        let text = String(decoding: Self.line(message, metadata).logfmt(), as: UTF8.self)
        #expect(text == Self.prefix + expected + "\n")
    }

    @Test(
        "JSON",
        arguments: [
            ("connected", [:], #""connected""#),
            (#"say "no"\"#, [:], #""say \"no\"\\""#),
            ("a\nb\tc\rd\u{0}\u{1B}\u{7F}\u{85}", [:], #""a\nb\tc\rd\u0000\u001b\u007f\u0085""#),
            ("\u{2028}\u{2029}", [:], #""\u2028\u2029""#),
            ("<é & 😀>", [:], #""<é & 😀>""#),
            ("m", ["b": "2", "a": "1"], #""m","a":"1","b":"2""#),
            ("m", ["msg": "x"], #""m","logged_msg":"x""#),
            ("m", ["n": .stringConvertible(5)], #""m","n":"5""#),
        ] as [(String, Logger.Metadata, String)])
    func json(message: String, metadata: Logger.Metadata, expected: String) throws {
        let bytes = Self.line(message, metadata).json()
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"time":"2026-11-21T04:49:45.252Z","level":"INFO","source":"Feeds.swift:7","msg":"#
                + expected + "}\n")
        let parsed = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        #expect(parsed?["msg"] as? String == message)
    }

    @Test(
        "levels are the four of Prometheus",
        arguments: [
            (Logger.Level.trace, "DEBUG"), (.debug, "DEBUG"), (.info, "INFO"), (.notice, "INFO"), (.warning, "WARN"),
            (.error, "ERROR"), (.critical, "ERROR"),
        ])
    func levels(level: Logger.Level, expected: String) {
        let text = String(decoding: Self.line("m", level: level).logfmt(), as: UTF8.self)
        #expect(text.contains(" level=\(expected) "))
    }

    @Test("every character leaves one line, in quotes or not") func oneLine() {
        for value in 0...0x3000 {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            for bytes in [Self.line("a\(scalar)b").logfmt(), Self.line("a\(scalar)b").json()] {
                #expect(bytes.count { $0 < 0x20 || $0 == 0x7F } == 1, "U+\(String(value, radix: 16))")
            }
        }
    }
}

@Suite struct StandardErrorLogTests {
    /// Lines in the order in which they were written.
    final class Lines: Sendable {
        private let lines = Mutex("")
        var text: String { lines.withLock { $0 } }
        func append(_ bytes: [UInt8]) { lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    }

    func logger(_ lines: Lines, level: Logger.Level = .info, format: LogFormat = .logfmt) -> Logger {
        var handler = StandardErrorLog(level: level, format: format)
        handler.now = { 0 }
        handler.write = { lines.append($0) }
        return Logger(label: "test") { _ in handler }
    }

    @Test(
        "the level filters",
        arguments: [("debug", "dniwec"), ("info", "niwec"), ("warn", "wec"), ("error", "ec")])
    func filters(flag: String, expected: String) throws {
        let lines = Lines()
        let logger = try logger(lines, level: #require(ValueFormat.logLevel.parse(flag)))
        logger.trace("t")
        logger.debug("d")
        logger.info("n")
        logger.notice("i")
        logger.warning("w")
        logger.error("e")
        logger.critical("c")
        let messages = lines.text.split(separator: "\n").compactMap { $0.last }
        #expect(String(messages) == expected)
    }

    @Test("unknown levels and formats are refused", arguments: ["", "INFO", "trace", "warning", "x"])
    func unknown(flag: String) {
        #expect(ValueFormat.logLevel.parse(flag) == nil)
        #expect(LogFormat(rawValue: flag) == nil)
    }

    @Test("metadata of event and logger is one set; the event's wins") func metadata() {
        let lines = Lines()
        var logger = logger(lines)
        logger[metadataKey: "a"] = "logger"
        logger[metadataKey: "b"] = "logger"
        logger.info("m", metadata: ["b": "event", "c": "event"])
        #expect(lines.text.hasSuffix(" msg=m a=logger b=event c=event\n"))
    }

    @Test("a copy of a logger has a level and metadata of its own") func valueSemantics() {
        let lines = Lines()
        let first = logger(lines)
        var second = first
        second.logLevel = .error
        second[metadataKey: "only"] = "second"
        #expect(first.logLevel == .info)
        #expect(first[metadataKey: "only"] == nil)
        #expect(second.logLevel == .error)
    }

    @Test("the source is the caller's file and line; JSON when asked for") func source() {
        let lines = Lines()
        logger(lines, format: .json).info("m")
        #expect(
            lines.text.hasPrefix(#"{"time":"1970-01-01T00:00:00.000Z","level":"INFO","source":"LogLineTests.swift:"#))
    }
}
