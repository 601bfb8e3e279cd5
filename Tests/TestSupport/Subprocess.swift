import Foundation

/// A system program that is run to its end.
public struct Subprocess {
    public let status: Int32
    public let output: [UInt8]
    public let errors: String

    public var text: String { String(decoding: output, as: UTF8.self) }

    @discardableResult
    public init(_ command: [String], in directory: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardInput = FileHandle.nullDevice
        let (outputPipe, files) = (Pipe(), TemporaryDirectory())
        process.standardOutput = outputPipe
        process.standardError = FileHandle(forWritingAtPath: files.write("errors", ""))
        try process.run()
        output = Array(outputPipe.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        status = process.terminationStatus
        errors = try String(contentsOfFile: files.file("errors"), encoding: .utf8)
    }
}
