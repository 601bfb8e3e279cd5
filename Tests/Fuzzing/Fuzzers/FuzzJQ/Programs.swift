import Expectations
import JQ
import JSON
import System

private let programs = [
    ".", ".[]?", ".data", "to_entries[] | {city: .key, aqi: .value}", "[.. | numbers]", "fromjson", "tojson | fromjson",
    #"select(.type == "aqi_update") | .data"#, #".[1:][] | {city: .[0], aqi: .[1]}"#,
    #".[] | capture("^(?<city>.*?): *(?<aqi>[0-9]+)$")"#, "[.city, .aqi] | transpose[]",
]

/// Runs typical programs on a message, in this process. A program gives a JSON array, nothing, or an error of one line,
/// and always the same for the same message.
func checkPrograms(_ message: [UInt8]) {
    // The worker receives only valid JSON.
    var reader = JSONReader()
    guard reader.read(message.span) != nil else { return }
    for program in programs {
        guard var interpreter = try? JQInterpreter(JQProgram(program)) else { fatalError(program) }
        let first = results(of: &interpreter, message)
        _ = results(of: &interpreter, Array("[{\"a\":[1,null]}]".utf8))
        let again = results(of: &interpreter, message)
        expect(first == again, "\(program): \(first) and \(again)")
        guard case .success(let elements) = first, !elements.isEmpty else { continue }
        // jq writes the digits of large numbers, and an integer beyond 64 bits may be rejected with its message.
        let isReadable = reader.read(elements.span) != nil || hasLongInteger(elements)
        expect(isReadable, "\(program): \(String(decoding: elements, as: UTF8.self))")
    }
}

/// Whether there are twenty digits or more in a row.
private func hasLongInteger(_ text: [UInt8]) -> Bool {
    var count = 0
    return text.contains { byte in
        count = (0x30...0x39).contains(byte) ? count + 1 : 0
        return count >= 20
    }
}

private func results(of interpreter: inout JQInterpreter, _ message: [UInt8]) -> Result<[UInt8], SystemError> {
    do throws(SystemError) {
        return .success(try interpreter.run(message.span))
    } catch {
        expectOneLine(error.reason)
        return .failure(error)
    }
}
