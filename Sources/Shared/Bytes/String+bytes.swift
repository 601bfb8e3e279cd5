extension String {
    /// The text after the prefix; `nil` unless it begins with the prefix's bytes.
    package func dropping(prefix: String) -> String? {
        utf8.starts(with: prefix.utf8) ? String(Substring(utf8.dropFirst(prefix.utf8.count))) : nil
    }

    /// The text before the first `=` byte; all of it if there is none.
    package var beforeEqualsSign: String { String(Substring(utf8.prefix { $0 != UInt8(ascii: "=") })) }

    /// Replaces text by Unicode scalars; `replacing` skips characters with a combining mark.
    package func replacingScalars(_ text: String, with other: String) -> String {
        String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
    }
}
