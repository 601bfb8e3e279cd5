import Foundation
import Testing

/// A Python program that prints its port on its first line and ends when its input does.
final class PythonPeer {
    let port: Int
    private let process = Process()
    private let input = Pipe()

    /// An interpreter that has the modules, or nil: `AIRQUALITY_TEST_PYTHON`, else `python3`.
    static func interpreter(with modules: String) -> String? {
        let candidates = [ProcessInfo.processInfo.environment["AIRQUALITY_TEST_PYTHON"], "/usr/bin/python3", "python3"]
        return candidates.compactMap { $0 }.first { run($0, ["-c", "import \(modules)"]) }
    }

    /// Whether the program ends with status 0.
    static func run(_ program: String, _ arguments: [String], in folder: String? = nil) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    init(_ interpreter: String, program: String, arguments: [String] = []) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [interpreter, "-c", program] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        port = try #require(Int(String(decoding: line, as: UTF8.self)), "the peer printed no port")
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
