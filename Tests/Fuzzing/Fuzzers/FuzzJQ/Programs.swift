import Expectations
import JQ
import JSON

private let programs = [
    ".", ".[]?", ".data", "to_entries[] | {city: .key, aqi: .value}", "[.. | numbers]", "fromjson", "tojson | fromjson",
    #"select(.type == "aqi_update") | .data"#, #".[1:][] | {city: .[0], aqi: .[1]}"#,
    #".[] | capture("^(?<city>.*?): *(?<aqi>[0-9]+)$")"#, "[.city, .aqi] | transpose[]",
]

/// A message through programs as operators write them, in this process. A program gives a JSON array, nothing, or an
/// error of one line; and the same for the same message, whatever came between.
func checkPrograms(_ message: [UInt8]) {
    // The worker gets JSON alone.
    var reader = JSONRecordReader(members: ["city"])
    guard reader.read(message.span) != .notJSON else { return }
    for program in programs {
        guard var interpreter = try? JQInterpreter(program, maximumResults: 1000) else { fatalError(program) }
        let first = results(of: &interpreter, message)
        _ = results(of: &interpreter, Array("[{\"a\":[1,null]}]".utf8))
        let again = results(of: &interpreter, message)
        expect(first == again, "\(program): \(first) and \(again)")
        guard case .success(let elements) = first, !elements.isEmpty else { continue }
        expect(reader.read(elements.span) == .records, "\(program): \(String(decoding: elements, as: UTF8.self))")
    }
}

private func results(of interpreter: inout JQInterpreter, _ message: [UInt8]) -> Result<[UInt8], JQError> {
    do throws(JQError) {
        return .success(try interpreter.run(message.span))
    } catch {
        expectOneLine(error.reason)
        return .failure(error)
    }
}
