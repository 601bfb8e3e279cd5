internal import CJQ

/// libjq with a compiled program, in this process: only a worker may have one, or a fuzzer.
@safe
public struct JQInterpreter: ~Copyable {
    private static let maximumResults = 100_000

    private let state: OpaquePointer?

    /// - Throws: jq's first complaint about the program.
    public init(_ program: String) throws(JQError) {
        unsafe state = jq_init()
        guard unsafe state != nil else { throw JQError("libjq has no memory") }
        // Without a list of folders, `import` fails an assertion of libjq 1.6.
        unsafe jq_set_attr(state, jv_string("JQ_LIBRARY_PATH"), jv_array())
        var complaint = ""
        let isCompiled = unsafe withUnsafeMutablePointer(to: &complaint) { complaint in
            unsafe jq_set_error_cb(
                state,
                { context, message in
                    let text = unsafe JQInterpreter.text(of: jq_format_error(message))
                    let complaint = unsafe context?.assumingMemoryBound(to: String.self)
                    if unsafe complaint?.pointee.isEmpty == true { unsafe complaint?.pointee = text }
                }, complaint)
            defer { unsafe jq_set_error_cb(state, nil, nil) }
            return unsafe jq_compile(state, program) != 0
        }
        guard isCompiled else { throw JQError(complaint) }
        unsafe jq_set_input_cb(
            state, { _, _ in unsafe jv_invalid_with_msg(jv_string("a message has one input: input is not there")) },
            nil)
        // Without one, `debug` fails in libjq 1.6.
        unsafe jq_set_debug_cb(state, { _, message in unsafe jv_free(message) }, nil)
    }

    deinit {
        var state = unsafe state
        unsafe jq_teardown(&state)
    }

    /// The results for each JSON text of the message, as one array; empty = none.
    public mutating func run(_ message: Span<UInt8>) throws(JQError) -> [UInt8] {
        let parser = unsafe jv_parser_new(0)
        defer { unsafe jv_parser_free(parser) }
        return try unsafe message.withUnsafeBytes { (bytes) throws(JQError) in
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe jv_parser_set_buf(parser, text, Int32(bytes.count), 0)
            var elements: [UInt8] = []
            var count = 0
            while let value = try unsafe Self.checked(jv_parser_next(parser)) {
                unsafe jq_start(state, value, 0)
                while let result = try unsafe Self.checked(jq_next(state)) {
                    unsafe append(result, to: &elements)
                    count += 1
                    guard count <= Self.maximumResults else {
                        throw JQError("more than \(Self.maximumResults) results for a message")
                    }
                }
                if unsafe jq_halted(state) != 0 {
                    _ = try unsafe Self.checked(jv_invalid_with_msg(jq_get_error_message(state)))
                }
            }
            return elements.isEmpty ? [] : elements + [UInt8(ascii: "]")]
        }
    }

    /// Appends the result, an array as its elements.
    private func append(_ result: jv, to elements: inout [UInt8]) {
        let isArray = unsafe jv_get_kind(result) == JV_KIND_ARRAY
        let text = unsafe jv_dump_string(result, 0)
        defer { unsafe jv_free(text) }
        let count = unsafe Int(jv_string_length_bytes(jv_copy(text)))
        let bytes = unsafe UnsafeRawBufferPointer(start: jv_string_value(text), count: count)
        let content = unsafe isArray ? bytes.dropFirst().dropLast() : bytes[...]
        guard unsafe !content.isEmpty else { return }
        elements.append(elements.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        unsafe elements.append(contentsOf: content)
    }

    /// The value; `nil` where there is none.
    /// - Throws: the error in its place, in jq's words.
    private static func checked(_ value: jv) throws(JQError) -> jv? {
        if unsafe jv_is_valid(value) != 0 { return unsafe value }
        let message = unsafe jv_invalid_get_msg(value)
        switch unsafe jv_get_kind(message) {
        case JV_KIND_NULL, JV_KIND_INVALID: return nil
        case JV_KIND_STRING: throw JQError(unsafe text(of: message))
        default: throw JQError(unsafe text(of: jv_dump_string(message, 0)))
        }
    }

    /// The text of a string, which is freed.
    private static func text(of value: jv) -> String {
        defer { unsafe jv_free(value) }
        return unsafe jv_get_kind(value) == JV_KIND_STRING ? String(cString: jv_string_value(value)) : ""
    }
}
