import Foundation
public import Testing

/// The path of a program of this package, built beside the test bundle.
public func builtProgram(_ name: String) throws -> String {
    let bundle = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return bundle.deletingLastPathComponent().appending(path: name).path
}

/// A program of this package, built beside the test bundle, as a child process; killed when this object is released.
public final class RunningProgram {
    private let process: ChildProcess
    private let directory = TemporaryDirectory()

    public init(_ name: String, _ arguments: [String]) throws {
        process = try ChildProcess(
            [builtProgram(name)] + arguments, output: directory.file("output"), errors: directory.file("errors"))
    }

    public func kill(_ signal: Int32) { Glibc.kill(process.identifier, signal) }

    /// The exit status, or 128 + the number of the signal that ended it; `nil` if it has not ended in half a minute.
    public func waitForEnd() -> Int32? { wait(until: { !process.isRunning }) ? process.wait() : nil }

    /// The complete lines that it has written so far.
    public var output: [String] { lines("output") }
    public var errors: [String] { lines("errors") }

    private func lines(_ name: String) -> [String] {
        let bytes = FileManager.default.contents(atPath: directory.file(name)) ?? Data()
        let whole = bytes.prefix((bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1)
        return String(decoding: whole, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits for the first line of output.
    public func waitForOutput(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        _ = wait { !output.isEmpty || !process.isRunning }
        return try #require(output.first, "\(errors)", sourceLocation: sourceLocation)
    }
}

/// Waits for a condition, half a minute at most, and says whether it came true.
public func wait(until isTrue: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(30)
    while !isTrue() {
        if ContinuousClock.now > deadline { return false }
        usleep(2000)
    }
    return true
}
