internal import CYAML
internal import System

/// One step through a document, as libyaml reports it.
enum YAMLEvent: Equatable {
    case documentStart
    case documentEnd
    case streamEnd
    case alias(name: String)
    case scalar(YAMLNode.Scalar, anchor: String?)
    case sequenceStart(anchor: String?)
    case sequenceEnd
    case mappingStart(anchor: String?)
    case mappingEnd
}

/// Owns a `yaml_parser_t` and the text that it reads.
@safe struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ text: [UInt8]) {
        unsafe self.text = .allocate(capacity: text.count)
        _ = unsafe self.text.initialize(fromContentsOf: text)
        unsafe parser = .allocate(capacity: 1)
        let result = unsafe yaml_parser_initialize(parser)
        precondition(result == 1, "no memory for a YAML parser")
        unsafe yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// The next event and the line where it begins, counted from 1; not to be called after `streamEnd` or an error.
    /// Corresponds to `yaml_parser_parse`.
    func next() throws(SystemError) -> (event: YAMLEvent, line: Int) {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw problem() }
            defer { unsafe yaml_event_delete(&event) }
            if let read = unsafe YAMLEvent(event) {
                return unsafe (read, Int(event.start_mark.line) + 1)
            }
        }
    }

    private func problem() -> SystemError {
        let reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML"
        guard unsafe parser.pointee.error == YAML_READER_ERROR else {
            return unsafe .yaml(line: Int(parser.pointee.problem_mark.line) + 1, reason)
        }
        // The reader, which checks the encoding, knows the place in the text only.
        let lines = unsafe text.prefix(parser.pointee.problem_offset).count { $0 == UInt8(ascii: "\n") }
        return .yaml(line: lines + 1, reason)
    }
}

extension YAMLEvent {
    /// Nil for the start of the stream, which says nothing.
    fileprivate init?(_ event: yaml_event_t) {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT:
            self = .documentStart
        case YAML_DOCUMENT_END_EVENT:
            self = .documentEnd
        case YAML_STREAM_END_EVENT:
            self = .streamEnd
        case YAML_ALIAS_EVENT:
            self = unsafe .alias(name: text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            self = unsafe .scalar(
                YAMLNode.Scalar(
                    text: String(decoding: bytes, as: UTF8.self), tag: text(scalar.tag),
                    isPlain: scalar.plain_implicit != 0),
                anchor: text(scalar.anchor))
        case YAML_SEQUENCE_START_EVENT:
            self = unsafe .sequenceStart(anchor: text(event.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT:
            self = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            self = unsafe .mappingStart(anchor: text(event.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT:
            self = .mappingEnd
        default:
            return nil
        }
    }
}

private func text(_ characters: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe characters.map { unsafe String(cString: $0) }
}
