import Exposition
import Foundation
import Storage
import Testing

@testable import AirQualityExporter
@testable import CommandLine

/// The tables of the program's README are generated from the program; `RECORD_GOLDEN=1` rewrites them and fails.
@Suite(.serialized) struct ReadmeTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Exporter/AirQualityExporter/README.md")

    @Test func `The README's table of flags is up to date`() throws {
        var lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
        for flag in Program.exporter.commands[0].flags {
            let value = flag.placeholder.map { " \($0)" } ?? ""
            let preset = flag.placeholder == nil ? "off" : flag.defaultText.map { $0.isEmpty ? "–" : "`\($0)`" } ?? "–"
            let repeatable = flag.isRepeatable ? " (repeatable)" : ""
            lines.append("| `--\(flag.name)\(value)`\(repeatable) | \(preset) | \(flag.help) |")
        }
        try expectTable("flags", lines)
    }

    @Test func `The README's table of metrics is up to date`() throws {
        var lines = ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |"]
        // Not what Go's client library names.
        let families = MetricsEndpoint.metrics.filter { $0.name.hasPrefix("airquality_") }
        for family in families {
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            lines.append(
                "| `\(family.name)` | \(family.kind.rawValue) | \(labels.isEmpty ? "–" : labels) | \(family.help) |")
        }
        try expectTable("metrics", lines)
    }

    private func expectTable(_ name: String, _ lines: [String]) throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- \(name): begin -->\n"))
        let end = try #require(text.range(of: "<!-- \(name): end -->"))
        let table = lines.joined(separator: "\n") + "\n"
        guard text[begin.upperBound..<end.lowerBound] != table else { return }
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil {
            try text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: table)
                .write(to: Self.file, atomically: true, encoding: .utf8)
            Issue.record("recorded the table of \(name)")
            return
        }
        Issue.record("the README's table of \(name) is not what the program says: record it with RECORD_GOLDEN=1")
    }
}
