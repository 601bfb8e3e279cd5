extension String {
    /// Replaces text by Unicode scalars; `replacing` skips characters with a combining mark.
    package func replacingScalars(_ text: String, with other: String) -> String {
        String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
    }
}
