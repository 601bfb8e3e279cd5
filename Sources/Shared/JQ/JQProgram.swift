/// A program in jq's language, which makes elements of a message.
///
/// libjq runs in a process of its own, the worker: this executable once more, without environment, files and standard
/// error. Within one step libjq cannot be interrupted, ends the process when memory is short, and follows nesting on
/// the stack. The kernel bounds what the worker takes and ends it; the next message gets a new one.
///
/// ```swift
/// var program = try JQProgram(".data | to_entries[] | {city: .key, aqi: .value}")
/// let elements = try program.run(message.span)  // [{"city":"Pune","aqi":51}]
/// ```
///
/// Used from one thread at a time.
public struct JQProgram: ~Copyable {
    private let text: String
    /// Memory of the worker for its data: libjq takes about fourteen times the message.
    private let memoryBytes: Int
    private let executable: String
    private var worker: JQWorkerProcess?

    /// Compiles the program, in some 30 ms.
    ///
    /// - Parameters:
    ///   - messageBytes: the length of the longest message.
    ///   - executable: a program that calls ``JQWorker/run(_:)`` when it is started with ``JQWorker/command``.
    public init(
        _ text: String, messageBytes: Int = 4 << 20, executable: String = "/proc/self/exe"
    ) throws(JQError) {
        self.text = text
        memoryBytes = 64 << 20 + 16 * messageBytes
        self.executable = executable
        try startWorker()
    }

    /// Runs the program on each JSON text of the message.
    ///
    /// - Parameter message: UTF-8; JSON that libjq cannot read is an error.
    /// - Returns: one JSON array of all results, those that are arrays as their elements; empty = no result.
    public mutating func run(_ message: Span<UInt8>) throws(JQError) -> [UInt8] {
        if worker == nil { try startWorker() }
        return try ask(message)
    }

    private mutating func startWorker() throws(JQError) {
        worker = try JQWorkerProcess(executable, memoryBytes: memoryBytes)
        _ = try ask(Array(text.utf8).span)
    }

    private mutating func ask(_ request: Span<UInt8>) throws(JQError) -> [UInt8] {
        if let response = worker?.ask(request) { return try response.get() }
        worker = nil
        let limits = "\(JQWorker.maximumSeconds) s or \(memoryBytes >> 20) MiB"
        throw JQError("the program needs more than \(limits) for a message, or nests too deep")
    }
}
