import Foundation

/// A new directory in the system's temporary one. It is removed with its content when the last owner releases it.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init(in parent: String? = nil) {
        path = "\(parent ?? FileManager.default.temporaryDirectory.path)/air-quality-test-\(UUID())"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the files in it, sorted.
    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    @discardableResult
    public func write(_ name: String, _ content: [UInt8]) -> String {
        try! Data(content).write(to: URL(filePath: file(name)))
        return file(name)
    }

    @discardableResult
    public func write(_ name: String, _ content: String) -> String {
        write(name, Array(content.utf8))
    }

    /// Makes a pipe that nobody writes to.
    public func makePipe(_ name: String) { unsafe mkfifo(file(name), 0o600) }

    public func move(_ name: String, to other: String) { unsafe rename(file(name), file(other)) }

    public func remove(_ name: String) { unsafe unlink(file(name)) }
}
