internal import Bytes
internal import HTTPText

/// The start line and header fields of an HTTP/1.1 message (RFC 9112, section 2.1).
struct HTTPHead: Equatable {
    let startLine: String
    let fields: [HTTPField]
}

extension HTTPHead {
    /// - Parameter text: all lines with their line endings, including the empty last one.
    init(_ text: [UInt8]) throws(HandshakeRejection) {
        let lines = text.split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        guard lines[0].allSatisfy({ $0 >= 0x20 }) else {
            throw HandshakeRejection("the first line has a control character")
        }
        let badField = HandshakeRejection("a header line is not \"Name: value\"")
        var fields: [HTTPField] = []
        for line in lines.dropFirst() where !line.isEmpty {
            if isBlank(line[line.startIndex]) {
                // A folded line (RFC 9112, section 5.2) continues the previous value.
                guard !fields.isEmpty, !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
                    throw badField
                }
                let more = String(decoding: trimmed(line), as: UTF8.self)
                fields[fields.count - 1].value += more.isEmpty ? "" : " " + more
            } else if let field = HTTPField(line: line) {
                fields.append(field)
            } else {
                throw badField
            }
        }
        self.init(startLine: String(decoding: lines[0], as: UTF8.self), fields: fields)
    }
}
