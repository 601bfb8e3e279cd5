import Foundation

/// A system program that is run to its end.
public struct Subprocess {
    public let status: Int32
    public let output: [UInt8]
    public let errors: String

    public var text: String { String(decoding: output, as: UTF8.self) }

    @discardableResult
    public init(_ command: [String], in directory: String? = nil) throws {
        let files = TemporaryDirectory()
        let process = try ChildProcess(
            command, in: directory, output: files.file("output"), errors: files.file("errors"))
        status = process.wait()
        output = try Array(Data(contentsOf: URL(filePath: files.file("output"))))
        errors = try String(contentsOfFile: files.file("errors"), encoding: .utf8)
    }
}
