internal import Bytes
internal import CJQ
public import System

/// A compiled program in libjq, in this process. For use only by a worker, or a fuzzer.
@safe
public struct JQInterpreter: ~Copyable {
    private static let maximumResults = 100_000

    private let program: JQProgram
    private let state: OpaquePointer?

    /// - Throws: jq's first error message about the program, with lines that include those of the prelude.
    public init(_ program: JQProgram) throws(SystemError) {
        self.program = program
        unsafe state = jq_init()
        // Without a library path, `import` fails an assertion of libjq 1.6.
        unsafe jq_set_attr(state, jv_string("JQ_LIBRARY_PATH"), jv_array())
        var complaints: [String] = []
        let isCompiled = unsafe withUnsafeMutablePointer(to: &complaints) { complaints in
            unsafe jq_set_error_cb(state, addComplaint, complaints)
            defer { unsafe jq_set_error_cb(state, nil, nil) }
            return unsafe jq_compile(state, program.prelude + program.text) != 0
        }
        guard isCompiled else { throw SystemError(.system, complaints.first { !$0.isEmpty } ?? "unknown error") }
        unsafe jq_set_input_cb(state, noInput, nil)
        // Without a callback, `debug` fails in libjq 1.6.
        unsafe jq_set_debug_cb(state, ignoreMessage, nil)
    }

    deinit {
        var state = unsafe state
        unsafe jq_teardown(&state)
    }

    /// Runs the program on each input, and returns the results as ``JQProgram/Output`` says; texts as ``JQTexts``.
    public mutating func run(_ message: Span<UInt8>, as input: JQProgram.Input = .json) throws(SystemError) -> [UInt8] {
        var results = Results(program.output)
        switch input {
        case .null: try unsafe run(jv_null(), &results)
        case .string:
            let text = unsafe message.withUnsafeBytes { bytes in
                unsafe jv_string_sized(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            try unsafe run(text, &results)
        case .json:
            let parser = unsafe jv_parser_new(0)
            defer { unsafe jv_parser_free(parser) }
            try unsafe message.withUnsafeBytes { (bytes) throws(SystemError) in
                let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                unsafe jv_parser_set_buf(parser, text, Int32(bytes.count), 0)
                while let value = try unsafe Self.checked(jv_parser_next(parser)) {
                    let isNull = unsafe jv_get_kind(value) == JV_KIND_NULL
                    // Nothing to free.
                    if isNull, program.output == .texts { continue }
                    try unsafe run(value, &results)
                }
            }
        }
        return results.bytes
    }

    /// Adds the results for one value, which is freed.
    private mutating func run(_ value: jv, _ results: inout Results) throws(SystemError) {
        unsafe jq_start(state, value, 0)
        while let result = try unsafe Self.checked(jq_next(state)) { try unsafe results.append(result) }
        guard unsafe jq_halted(state) != 0 else { return }
        let error = unsafe jq_get_error_message(state)
        guard unsafe jv_is_valid(error) != 0 else { return }
        // libjq 1.6 frees the error again at each later start.
        self = try JQInterpreter(program)
        _ = try unsafe Self.checked(jv_invalid_with_msg(error))
    }

    /// Returns the value, or `nil` if there is none; throws an error in its place, in jq's words.
    private static func checked(_ value: jv) throws(SystemError) -> jv? {
        if unsafe jv_is_valid(value) != 0 { return unsafe value }
        if unsafe jv_invalid_has_msg(jv_copy(value)) == 0 { return nil }
        throw SystemError(.system, unsafe words(of: value))
    }

    /// The results for a message so far.
    @safe private struct Results: ~Copyable {
        private let output: JQProgram.Output
        private var elements = unsafe jv_array()
        private var texts = JQTexts()
        private var count = 0

        init(_ output: JQProgram.Output) { self.output = output }

        deinit { unsafe jv_free(elements) }

        /// Takes a result.
        mutating func append(_ result: jv) throws(SystemError) {
            count += 1
            guard count <= JQInterpreter.maximumResults else {
                unsafe jv_free(result)
                throw SystemError(.system, "more than \(JQInterpreter.maximumResults) results for a message")
            }
            switch output {
            case .elements:
                let isArray = unsafe jv_get_kind(result) == JV_KIND_ARRAY
                unsafe elements = (isArray ? jv_array_concat : jv_array_append)(elements, result)
            case .texts: try unsafe appendText(result)
            }
        }

        private mutating func appendText(_ result: jv) throws(SystemError) {
            var result = unsafe result
            switch unsafe jv_get_kind(result) {
            case JV_KIND_NULL: return
            case JV_KIND_STRING: break
            case JV_KIND_ARRAY, JV_KIND_OBJECT: unsafe result = jv_dump_string(result, 0)
            default:
                unsafe jv_free(result)
                throw SystemError(.system, "a number, true or false cannot be sent; a string, object or array can")
            }
            defer { unsafe jv_free(result) }
            guard texts.append(unsafe Self.bytes(of: result)) else {
                let limits = "\(JQTexts.maximumCount) texts or \(JQTexts.maximumBytes >> 10) KiB"
                throw SystemError(.system, "more than \(limits) for a message")
            }
        }

        var bytes: [UInt8] {
            if output == .texts { return texts.bytes }
            guard unsafe jv_array_length(jv_copy(elements)) > 0 else { return [] }
            let text = unsafe jv_dump_string(jv_copy(elements), 0)
            defer { unsafe jv_free(text) }
            return unsafe Self.bytes(of: text)
        }

        /// Returns the bytes of a string, which may have a NUL.
        private static func bytes(of text: jv) -> [UInt8] {
            let count = unsafe Int(jv_string_length_bytes(jv_copy(text)))
            return unsafe Array(UnsafeRawBufferPointer(start: jv_string_value(text), count: count))
        }
    }
}

/// Frees an error and returns its first line, at most 256 bytes, without the prefix that jq adds.
private func words(of error: jv) -> String {
    let text = unsafe jq_format_error(error)
    defer { unsafe jv_free(text) }
    guard unsafe jv_get_kind(text) == JV_KIND_STRING else { return "unknown error" }
    var line = unsafe String(cString: jv_string_value(text)).prefix { !$0.isNewline }.trimmingPrefix("jq: error: ")
    if line.hasSuffix(":") { line = line.dropLast() }
    return String(decoding: line.utf8.prefix(256), as: UTF8.self)
}

/// Called by libjq for each error in a program; corresponds to `jq_msg_cb`.
@c(airquality_jq_add_complaint)
private func addComplaint(complaints: UnsafeMutableRawPointer?, message: jv) {
    unsafe complaints?.assumingMemoryBound(to: [String].self).pointee.append(unsafe words(of: message))
}

/// Called by libjq for `input`; corresponds to `jq_input_cb`.
@c(airquality_jq_no_input)
private func noInput(_: OpaquePointer?, _: UnsafeMutableRawPointer?) -> jv {
    unsafe jv_invalid_with_msg(jv_string("no further input"))
}

/// Called by libjq for `debug`; corresponds to `jq_msg_cb`.
@c(airquality_jq_ignore_message)
private func ignoreMessage(_: UnsafeMutableRawPointer?, message: jv) { unsafe jv_free(message) }
