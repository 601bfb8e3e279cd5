import Bytes
import System

/// What a health probe looks at in an HTTP response.
struct HealthAnswer: Equatable {
    var status: Int
    var line: String

    private static let headLimit = 16 * 1024

    /// Nil while more has to come; `isComplete` when the server has closed the connection.
    static func parse(_ bytes: [UInt8], isComplete: Bool) throws(SystemError) -> HealthAnswer? {
        let headEnd = Array("\r\n\r\n".utf8)
        guard let end = bytes[...].range(of: headEnd) else {
            guard !isComplete, bytes.count < headLimit else { throw malformed(bytes) }
            return nil
        }
        guard let status = status(bytes) else { throw malformed(bytes) }
        if 100..<200 ~= status {
            // An interim response; the final one follows.
            return try parse(Array(bytes[end.upperBound...]), isComplete: isComplete)
        }
        var body = bytes[end.upperBound...]
        if isChunked(bytes[..<end.lowerBound]) {
            // The first line is the first chunk's size.
            guard let sizeEnd = body.firstIndex(of: UInt8(ascii: "\n")) else {
                return isComplete ? HealthAnswer(status: status, line: "") : nil
            }
            body = body[(sizeEnd + 1)...]
        }
        let line = body.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard isComplete || line.count < body.count || line.count >= HealthProbe.lineLimit else { return nil }
        return HealthAnswer(status: status, line: String(decoding: line.prefix(HealthProbe.lineLimit), as: UTF8.self))
    }

    /// `HTTP/1.1 200 …`
    private static func status(_ bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: Array("HTTP/1.".utf8)), bytes.count >= 12, bytes[8] == UInt8(ascii: " ") else {
            return nil
        }
        return Int(String(decoding: bytes[9..<12], as: UTF8.self)).flatMap { 100..<600 ~= $0 ? $0 : nil }
    }

    private static func isChunked(_ head: ArraySlice<UInt8>) -> Bool {
        String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n").contains {
            $0.hasPrefix("transfer-encoding:") && $0.hasSuffix("chunked")
        }
    }

    private static func malformed(_ bytes: [UInt8]) -> SystemError {
        SystemError(.peer, bytes.isEmpty ? "the server closed the connection" : "the answer is not HTTP/1.1")
    }
}
