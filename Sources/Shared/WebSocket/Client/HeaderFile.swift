public import Bytes
internal import System

/// Why a file has no header fields for a handshake. It names nothing of the file's content, which may be secret, but the
/// name of a field.
public enum HeaderFileError: Error, Sendable, Equatable {
    case unreadable(reason: String)
    case notAField(line: Int)
    /// One that the handshake sets itself.
    case reserved(HTTPField, line: Int)

    /// Completes an error: what would be right.
    ///
    /// - Parameter instead: the same for a reserved field.
    public func expected(instead: (HTTPField) -> String = \.expectedInstead) -> String {
        switch self {
        case .unreadable(let reason): "a file that can be read: \(reason)"
        case .notAField(let line): "\"Name: value\" in line \(line)"
        case .reserved(let field, let line): "\(instead(field)), in line \(line)"
        }
    }
}

extension HTTPField {
    private static let maximumFileBytes = 64 << 10

    /// The fields of a file, `Name: value` a line; blank lines and those that begin with `#` are passed over.
    public static func read(_ path: String) throws(HeaderFileError) -> [HTTPField] {
        let content: [UInt8]
        do throws(SystemError) {
            content = try readFile(path, limit: maximumFileBytes)
        } catch {
            throw .unreadable(reason: error.reason)
        }
        let lines = String(decoding: content, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var fields: [HTTPField] = []
        for (index, line) in lines.enumerated() {
            if line.first == "#" || line.utf8.allSatisfy(isBlank) { continue }
            guard let field = HTTPField(line: String(line)) else { throw .notAField(line: index + 1) }
            if field.isReserved { throw .reserved(field, line: index + 1) }
            fields.append(field)
        }
        return fields
    }
}
