internal import Bytes
public import System

/// A program in jq's language.
public struct JQProgram: Sendable, Equatable {
    public enum Output: UInt8, Sendable {
        /// One JSON array of all results, with arrays replaced by their elements; empty bytes if there are none.
        case elements
        /// The texts to send: strings as they are, objects and arrays as JSON. `null` is no text, and anything else an
        /// error. A `null` in a message is no input, because that one means the beginning of a connection.
        case texts
    }

    public enum Input: UInt8, Sendable {
        /// Each JSON text of the message, in UTF-8; JSON that libjq cannot read is an error.
        case json
        /// The message, in UTF-8, as a string, without a byte order mark.
        case string
        /// `null`, whatever the message.
        case null
    }

    public var text: String
    public var output: Output
    /// Definitions that the program may use, ending in a line end. Errors count lines without them.
    public var prelude: String

    public init(_ text: String, output: Output = .elements, prelude: String = "") {
        self.text = text
        self.output = output
        self.prelude = prelude
    }

    /// Compiles the program in a worker.
    public func check() throws(SystemError) { _ = try JQProcess([self]) }

    /// Throws an error that names the first thing in the text that cannot work in a worker, such as `input`.
    func refuseUnavailable() throws(SystemError) {
        let words = JQWord.list(in: text.utf8)
        let definitions = Set(words.filter(\.isDefinition).map(\.name))
        for word in words where !definitions.contains(word.name) {
            guard let reason = Self.unavailable[word.name] else { continue }
            throw SystemError(.content, "\(word.name) cannot be used: \(reason), at \(position(of: word.offset))")
        }
    }

    private static let unavailable = [
        "input": "each message is an input of its own", "inputs": "each message is an input of its own",
        "env": "the program has no environment", "$ENV": "the program has no environment",
        "import": "there are no modules", "include": "there are no modules", "modulemeta": "there are no modules",
    ]

    /// Returns jq's error message about prelude and text with positions in the text alone.
    func located(_ complaint: String) -> String {
        guard let match = complaint.firstMatch(of: /(.*, line )([0-9]+)(.*)/), let line = Int(match.2) else {
            return complaint
        }
        let own = max(1, line - prelude.utf8.count { $0 == UInt8(ascii: "\n") })
        // libjq before 1.8 has no columns, but names what is not defined.
        let name = complaint.firstMatch(of: /([A-Za-z0-9_]+)\/[0-9]+ is not defined/)?.1
        let column = JQWord.list(in: text.utf8).lazy
            .filter { name.map(String.init) == $0.name }.map { lineAndColumn(of: $0.offset) }
            .first { $0.line == own }?.column
        let isKnown = match.3.contains("column")
        return "\(match.1)\(own)" + (isKnown ? "" : column.map { ", column \($0)" } ?? "") + match.3
    }

    private func position(of offset: Int) -> String {
        let (line, column) = lineAndColumn(of: offset)
        return "line \(line), column \(column)"
    }

    /// - Parameter offset: in bytes of UTF-8.
    private func lineAndColumn(of offset: Int) -> (line: Int, column: Int) {
        let before = Array(text.utf8.prefix(offset))
        let line = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return (line.count, String(decoding: line.last ?? [], as: UTF8.self).unicodeScalars.count + 1)
    }
}
