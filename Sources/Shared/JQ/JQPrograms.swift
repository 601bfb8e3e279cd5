internal import System

/// The compiled programs of a worker.
struct JQPrograms: ~Copyable {
    /// A list, because an array cannot hold a value that is not copyable.
    private final class Entry {
        var interpreter: JQInterpreter

        init(_ program: JQProgram) throws(SystemError) { interpreter = try JQInterpreter(program) }
    }

    private var entries: [Entry] = []

    /// Returns the response to a request; see ``JQRequest``.
    mutating func response(to bytes: [UInt8]) -> [UInt8] {
        do throws(SystemError) {
            switch JQRequest(bytes) {
            case .compile(let program):
                entries.append(try Entry(program))
                return [JQRequest.success]
            case .run(let index, let message, let input) where entries.indices.contains(index):
                return [JQRequest.success] + (try entries[index].interpreter.run(message.span, as: input))
            default: throw SystemError(.system, "no request")
            }
        } catch {
            return [JQRequest.failure] + Array(error.reason.utf8)
        }
    }
}
