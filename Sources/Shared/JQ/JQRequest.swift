internal import Bytes
internal import System

/// A request to a worker: to compile a program, or to run one of those that are compiled.
enum JQRequest {
    case compile(JQProgram)
    /// The index of the program.
    case run(Int, message: ArraySlice<UInt8>, JQProgram.Input)

    /// First byte of a response that has an error message instead of a result.
    static let failure = UInt8(ascii: "!")
    /// First byte of a response with a result.
    static let success = UInt8(ascii: "=")

    private static let compiles = UInt8(ascii: "c")
    private static let runs = UInt8(ascii: "r")

    static func bytes(toCompile program: JQProgram) -> [UInt8] {
        [compiles, program.output.rawValue] + Array(program.prelude.utf8) + [0] + Array(program.text.utf8)
    }

    static func bytes(toRun index: Int, on message: Span<UInt8>, as input: JQProgram.Input) -> [UInt8] {
        var request = [runs, UInt8(index), input.rawValue]
        request.reserveCapacity(request.count + message.count)
        let start = input == .string && hasByteOrderMark(message) ? 3 : 0
        unsafe message.extracting(start...).withUnsafeBufferPointer { unsafe request.append(contentsOf: $0) }
        // libjq stops at a U+001E between two texts; inside a text it is invalid JSON either way.
        if input == .json, request.contains(0x1E) {
            for index in request.indices.dropFirst(3) where request[index] == 0x1E {
                request[index] = UInt8(ascii: "\n")
            }
        }
        return request
    }

    /// `nil` if the bytes are no request.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 1 else { return nil }
        switch bytes[0] {
        case Self.compiles:
            guard let output = JQProgram.Output(rawValue: bytes[1]), let end = bytes[2...].firstIndex(of: 0) else {
                return nil
            }
            let prelude = String(decoding: bytes[2..<end], as: UTF8.self)
            let text = String(decoding: bytes[(end + 1)...], as: UTF8.self)
            self = .compile(JQProgram(text, output: output, prelude: prelude))
        case Self.runs:
            guard bytes.count > 2, let input = JQProgram.Input(rawValue: bytes[2]) else { return nil }
            self = .run(Int(bytes[1]), message: bytes[3...], input)
        default: return nil
        }
    }
}
