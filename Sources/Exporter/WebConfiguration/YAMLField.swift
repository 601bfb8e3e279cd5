internal import Bytes
internal import System

/// A value of a configuration file with the name that errors call it by, decoded as Go's yaml.v2 does in strict mode:
/// null is the zero value of every type, a text takes any scalar, and merge keys count in their place.
struct YAMLField {
    /// The keys that lead to it, for example `tls_server_config.cipher_suites[2]`; empty for the document.
    var path: String
    var node: YAMLNode
    /// Keeps the value out of errors.
    var isSecret = false

    func wrong(expected: String) -> SystemError {
        let found =
            switch node.content {
            case .scalar where isSecret: "<secret>"
            case .scalar(let scalar): quoted(scalar.text, limit: 40)
            case .sequence: "a list"
            case .mapping: "a mapping"
            }
        return .yaml(line: node.line, "\(path.isEmpty ? "the document" : path) is \(found), expected \(expected)")
    }

    func isNull() throws(SystemError) -> Bool {
        guard case .scalar(let scalar) = node.content else { return false }
        return try resolve(scalar, expected: "what its tag says") == .null
    }

    func text(expected: String = "a text") throws(SystemError) -> String {
        guard case .scalar(let scalar) = node.content else { throw wrong(expected: expected) }
        if scalar.tag == "tag:yaml.org,2002:binary" {
            let base64 = scalar.text.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard let bytes = decodeBase64(base64[...]) else { throw wrong(expected: "base64") }
            return String(decoding: bytes, as: UTF8.self)
        }
        return try resolve(scalar, expected: "what its tag says") == .null ? "" : scalar.text
    }

    func boolean() throws(SystemError) -> Bool {
        switch try resolve(expected: "true or false") {
        case .boolean(let value): return value
        case .null: return false
        default: throw wrong(expected: "true or false")
        }
    }

    /// A fraction is cut off.
    func integer() throws(SystemError) -> Int64 {
        let expected = "a whole number"
        switch try resolve(expected: expected) {
        case .number(let value): return try whole(value, expected: expected)
        case .null: return 0
        default: throw wrong(expected: expected)
        }
    }

    /// Nanoseconds; a number without a unit counts them too.
    func duration() throws(SystemError) -> Int64 {
        let expected = "a duration such as 500ms, 30s or 1m30s"
        switch try resolve(expected: expected) {
        case .number(let value): return try whole(value, expected: expected)
        case .null: return 0
        case .text:
            guard let nanoseconds = try parseGoDuration(text()) else { throw wrong(expected: expected) }
            return nanoseconds
        default: throw wrong(expected: expected)
        }
    }

    private func whole(_ value: Double, expected: String) throws(SystemError) -> Int64 {
        guard value < 0x1p63 else { throw wrong(expected: expected) }
        return Int64(max(value, -0x1p63))
    }

    /// Nil for null.
    func list() throws(SystemError) -> [YAMLField]? {
        if case .sequence(let nodes) = node.content {
            return nodes.enumerated().map { YAMLField(path: "\(path)[\($0.offset)]", node: $0.element) }
        }
        guard try isNull() else { throw wrong(expected: "a list") }
        return nil
    }

    /// Calls the body for each pair, those of merged mappings in the place of their merge key.
    func forEachPair(
        _ body: (_ key: String, _ value: YAMLField) throws(SystemError) -> Void
    ) throws(SystemError) {
        guard case .mapping(let pairs) = node.content else { throw wrong(expected: "a mapping") }
        for pair in pairs {
            if case .scalar(let key) = pair.key.content, key.isMergeKey {
                for field in try YAMLField(path: child("<<"), node: pair.value).mergedMappings() {
                    try field.forEachPair(body)
                }
            } else {
                let key = try YAMLField(path: child("a key"), node: pair.key).text()
                try body(key, YAMLField(path: child(key), node: pair.value))
            }
        }
    }

    /// The last one first: what comes later in the file wins, and here the first is to win.
    private func mergedMappings() throws(SystemError) -> [YAMLField] {
        let nodes: [YAMLNode] =
            if case .sequence(let nodes) = node.content { nodes.reversed() } else { [node] }
        var fields: [YAMLField] = []
        for node in nodes {
            let field = YAMLField(path: path, node: node)
            guard case .mapping = node.content else { throw field.wrong(expected: "a mapping or a list of mappings") }
            fields.append(field)
        }
        return fields
    }

    private func child(_ key: String) -> String {
        path.isEmpty ? key : path + "." + key
    }

    private func resolve(expected: String) throws(SystemError) -> GoScalar {
        guard case .scalar(let scalar) = node.content else { throw wrong(expected: expected) }
        return try resolve(scalar, expected: expected)
    }

    private func resolve(_ scalar: YAMLNode.Scalar, expected: String) throws(SystemError) -> GoScalar {
        guard let value = GoScalar(scalar) else { throw wrong(expected: expected) }
        return value
    }
}
