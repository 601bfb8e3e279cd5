import Foundation

/// A program of the system, run to its end.
public struct Subprocess {
    public let status: Int32
    public let output: [UInt8]
    public let errors: String

    public var text: String { String(decoding: output, as: UTF8.self) }

    /// - Parameter input: what it reads, a file behind a pipe.
    @discardableResult
    public init(_ command: [String], input: [UInt8] = [], in directory: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        let (inputPipe, outputPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        try process.run()
        let feeding = Thread {
            try? inputPipe.fileHandleForWriting.write(contentsOf: Data(input))
            try? inputPipe.fileHandleForWriting.close()
        }
        feeding.start()
        let errorBytes = Box()
        let reading = Thread { errorBytes.fill(errorPipe.fileHandleForReading.readDataToEndOfFile()) }
        reading.start()
        output = Array(outputPipe.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        status = process.terminationStatus
        errors = String(decoding: errorBytes.wait(), as: UTF8.self)
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: written before the semaphore is signalled, read after.
        private var data = Data()
        private let filled = DispatchSemaphore(value: 0)

        func fill(_ data: Data) {
            self.data = data
            filled.signal()
        }

        func wait() -> Data {
            filled.wait()
            return data
        }
    }
}
