internal import Bytes
internal import Glibc

/// A program in jq's language, which makes elements of a message.
///
/// libjq runs in a process of its own, the worker: this executable once more, without environment, files and standard
/// error. Within one step libjq cannot be interrupted, ends the process when memory is short, and follows nesting on
/// the stack. The kernel bounds what the worker takes (``JQLimits``) and ends it; the next message gets a new one.
///
/// ```swift
/// var program = try JQProgram(".data | to_entries[] | {city: .key, aqi: .value}")
/// let elements = try program.run(message.span)  // [{"city":"Pune","aqi":51}]
/// ```
///
/// Used from one thread at a time.
public struct JQProgram: ~Copyable {
    private let text: String
    private let limits: JQLimits
    private let executable: String
    private var worker = JQWorkerProcess.none

    /// Compiles the program, in some 30 ms.
    ///
    /// - Parameter executable: a program that calls ``JQWorker/run(_:)`` when it is started with ``JQWorker/command``.
    public init(
        _ text: String, limits: JQLimits = JQLimits(), executable: String = "/proc/self/exe"
    ) throws(JQError) {
        self.text = text
        self.limits = limits
        self.executable = executable
        try start()
    }

    deinit { worker.kill() }

    /// Runs the program on each JSON text of the message.
    ///
    /// - Parameter message: UTF-8; JSON that libjq cannot read is an error.
    /// - Returns: one JSON array of all results, those that are arrays as their elements; empty = no result.
    public mutating func run(_ message: Span<UInt8>) throws(JQError) -> [UInt8] {
        if worker == .none { try start() }
        return try exchange(.message, message)
    }

    private mutating func start() throws(JQError) {
        worker = try JQWorkerProcess(executable, limits)
        _ = try exchange(.program, Array("\(limits.results)\n\(text)".utf8).span)
    }

    private mutating func exchange(_ kind: JQFrame.Kind, _ content: Span<UInt8>) throws(JQError) -> [UInt8] {
        if JQFrame.send(kind, content, over: worker.descriptor),
            let response = JQFrame.receive(from: worker.descriptor)
        {
            if response.kind == .elements { return response.content }
            throw JQError(String(decoding: response.content, as: UTF8.self))
        }
        let signal = worker.waitForEnd() & 0x7F
        worker = .none
        throw JQError(
            signal == SIGPROF
                ? "the program takes more than \(limits.seconds) s for a message"
                : "the program needs more than \(limits.memoryBytes >> 20) MiB for a message, or nests too deep")
    }
}
