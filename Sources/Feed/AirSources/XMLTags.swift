internal import Bytes

/// The tags of a document in their order. No document type is read, so that no entity can grow.
struct XMLTags {
    struct Tag {
        /// With its slash where it ends an element.
        var name: String
        var attributes: [String: String] = [:]
    }

    private static let maximumAttributes = 16

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Tag? {
        guard take(while: { $0 != UInt8(ascii: "<") }) != nil else { return nil }
        place += 1
        guard let name = take(while: { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }) else { return nil }
        var tag = Tag(name: name)
        while true {
            _ = take(while: { Self.isBlank($0) || "/?".utf8.contains($0) })
            guard place < bytes.count, bytes[place] != UInt8(ascii: ">") else { return tag }
            guard let attribute = take(while: { !"=>".utf8.contains($0) }) else { return nil }
            guard bytes[place] == UInt8(ascii: "=") else { return tag }
            place += 1
            guard place < bytes.count, "\"'".utf8.contains(bytes[place]) else { continue }
            let quote = bytes[place]
            place += 1
            guard let value = take(while: { $0 != quote }) else { return nil }
            place += 1
            if tag.attributes.count < Self.maximumAttributes { tag.attributes[attribute] = Self.plain(value) }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }

    /// Takes the bytes up to the first that is no part; `nil` at the end of the document.
    private mutating func take(while isPart: (UInt8) -> Bool) -> String? {
        guard let end = bytes[place...].firstIndex(where: { !isPart($0) }) else { return nil }
        defer { place = end }
        return String(decoding: bytes[place..<end], as: UTF8.self)
    }

    private static func plain(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var text = text
        for (name, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            text = text.split(separator: name, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text
    }
}
