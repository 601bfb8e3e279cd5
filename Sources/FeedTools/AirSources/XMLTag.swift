struct XMLTag {
    private static let maximumAttributes = 16

    /// Includes the slash of an end tag.
    let name: String
    private(set) var attributes: [String: String] = [:]

    /// The complete tags of a document in order. Document types are ignored, so entities cannot expand.
    static func all(in document: [UInt8]) -> some Sequence<XMLTag> {
        document.split(separator: UInt8(ascii: "<")).lazy.filter { $0.contains(UInt8(ascii: ">")) }.map(XMLTag.init)
    }

    /// - Parameter text: starts at the name and extends beyond the end of the tag.
    private init(_ text: ArraySlice<UInt8>) {
        let quote = text.first { "\"'".utf8.contains($0) } ?? UInt8(ascii: "\"")
        let parts = text.split(
            separator: quote, maxSplits: 2 * Self.maximumAttributes, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        name = String(parts[0].prefix { !$0.isWhitespace && $0 != ">" })
        // Every other part is a value, until the tag ends.
        for index in stride(from: 1, to: parts.count - 1, by: 2) {
            let name = parts[index - 1].split { $0 == "=" || $0.isWhitespace }.last
            guard let name, !parts[index - 1].contains(">") else { return }
            attributes[String(name)] = Self.plain(parts[index])
        }
    }

    private static func plain(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&apos;", with: "'").replacing("&amp;", with: "&")
    }
}
