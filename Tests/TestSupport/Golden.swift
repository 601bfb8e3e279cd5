import Foundation
public import Testing

/// Compares bytes with the file `Golden/name` beside the test; with `RECORD_GOLDEN=1`, writes the file and fails.
public func expectGolden(
    _ bytes: [UInt8], named name: String, filePath: String = #filePath,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let folder = URL(filePath: filePath).deletingLastPathComponent().appending(path: "Golden")
    let file = folder.appending(path: name)
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        Issue.record("recorded \(name)", sourceLocation: sourceLocation)
        return
    }
    let golden = try [UInt8](Data(contentsOf: file))
    guard golden != bytes else { return }
    let (expected, found) = (golden.split(separator: 10), bytes.split(separator: 10))
    for line in 0..<max(expected.count, found.count) {
        let (want, got) = (expected.dropFirst(line).first, found.dropFirst(line).first)
        guard want != got else { continue }
        Issue.record(
            """
            \(name) differs at line \(line + 1):
            expected \(want.map { String(decoding: $0, as: UTF8.self) } ?? "nothing more")
            found    \(got.map { String(decoding: $0, as: UTF8.self) } ?? "nothing more")
            """, sourceLocation: sourceLocation)
        return
    }
    Issue.record("\(name) differs in its line ends", sourceLocation: sourceLocation)
}
