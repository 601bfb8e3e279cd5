internal import CJQ
public import System

/// A compiled program in libjq, in this process. For use only by a worker, or a fuzzer.
@safe
public struct JQInterpreter: ~Copyable {
    private static let maximumResults = 100_000

    private let program: String
    private let state: OpaquePointer?

    /// - Throws: jq's first error message about the program.
    public init(_ program: String) throws(SystemError) {
        self.program = program
        unsafe state = jq_init()
        // Without a library path, `import` fails an assertion of libjq 1.6.
        unsafe jq_set_attr(state, jv_string("JQ_LIBRARY_PATH"), jv_array())
        var complaint = ""
        let isCompiled = unsafe withUnsafeMutablePointer(to: &complaint) { complaint in
            unsafe jq_set_error_cb(
                state,
                { context, message in
                    let text = unsafe JQInterpreter.words(of: message)
                    let complaint = unsafe context?.assumingMemoryBound(to: String.self)
                    if unsafe complaint?.pointee.isEmpty == true { unsafe complaint?.pointee = text }
                }, complaint)
            defer { unsafe jq_set_error_cb(state, nil, nil) }
            return unsafe jq_compile(state, program) != 0
        }
        guard isCompiled else { throw SystemError(.system, complaint) }
        unsafe jq_set_input_cb(state, { _, _ in unsafe jv_invalid_with_msg(jv_string("no further input")) }, nil)
        // Without a callback, `debug` fails in libjq 1.6.
        unsafe jq_set_debug_cb(state, { _, message in unsafe jv_free(message) }, nil)
    }

    deinit {
        var state = unsafe state
        unsafe jq_teardown(&state)
    }

    /// Returns one JSON array of the results for all JSON texts, arrays replaced by their elements; empty if none.
    public mutating func run(_ message: Span<UInt8>) throws(SystemError) -> [UInt8] {
        let parser = unsafe jv_parser_new(0)
        defer { unsafe jv_parser_free(parser) }
        var elements = unsafe jv_array()
        defer { unsafe jv_free(elements) }
        try unsafe message.withUnsafeBytes { (bytes) throws(SystemError) in
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe jv_parser_set_buf(parser, text, Int32(bytes.count), 0)
            var count = 0
            while let value = try unsafe Self.checked(jv_parser_next(parser)) {
                unsafe jq_start(state, value, 0)
                while let result = try unsafe Self.checked(jq_next(state)) {
                    let isArray = unsafe jv_get_kind(result) == JV_KIND_ARRAY
                    unsafe elements = (isArray ? jv_array_concat : jv_array_append)(elements, result)
                    count += 1
                    guard count <= Self.maximumResults else {
                        throw SystemError(.system, "more than \(Self.maximumResults) results for a message")
                    }
                }
                guard unsafe jq_halted(state) != 0 else { continue }
                let error = unsafe jq_get_error_message(state)
                guard unsafe jv_is_valid(error) != 0 else { continue }
                // libjq 1.6 frees the error again at each later start.
                self = try JQInterpreter(program)
                _ = try unsafe Self.checked(jv_invalid_with_msg(error))
            }
        }
        guard unsafe jv_array_length(jv_copy(elements)) > 0 else { return [] }
        let text = unsafe jv_dump_string(jv_copy(elements), 0)
        defer { unsafe jv_free(text) }
        return unsafe Array(String(cString: jv_string_value(text)).utf8)
    }

    /// Returns the value, or `nil` if there is none; throws an error in its place, in jq's words.
    private static func checked(_ value: jv) throws(SystemError) -> jv? {
        if unsafe jv_is_valid(value) != 0 { return unsafe value }
        if unsafe jv_invalid_has_msg(jv_copy(value)) == 0 { return nil }
        throw SystemError(.system, unsafe words(of: value))
    }

    /// Frees an error and returns its first line, at most 256 bytes, without the prefix that jq adds.
    private static func words(of error: jv) -> String {
        let text = unsafe jq_format_error(error)
        defer { unsafe jv_free(text) }
        guard unsafe jv_get_kind(text) == JV_KIND_STRING else { return "unknown error" }
        var line = unsafe String(cString: jv_string_value(text)).prefix { !$0.isNewline }.trimmingPrefix("jq: error: ")
        if line.hasSuffix(":") { line = line.dropLast() }
        return String(decoding: line.utf8.prefix(256), as: UTF8.self)
    }
}
