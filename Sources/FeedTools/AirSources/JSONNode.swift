internal import Bytes
internal import JSON

/// A value in a source's document, with its path, so that errors name what differs from the documentation.
struct JSONNode {
    /// Maximum number of elements read from an array. The longest real arrays are OpenAQ's 1,000 locations.
    private static let maximumElements = 1000

    /// `nil` if the value is missing.
    let tree: JSONTree?
    var path = ""

    subscript(name: String) -> JSONNode { JSONNode(tree: tree?[name], path: path.isEmpty ? name : "\(path).\(name)") }

    /// Whether the value is neither missing nor null.
    var exists: Bool { (tree ?? .null) != .null }

    /// Throws unless it is an object.
    func object() throws(SourceError) -> JSONNode {
        guard case .object = tree else { throw unreadable }
        return self
    }

    func elements() throws(SourceError) -> [JSONNode] {
        guard let elements = tree?.elements else { throw unreadable }
        return elements.prefix(Self.maximumElements).enumerated().map { index, element in
            JSONNode(tree: element, path: "\(path)[\(index)]")
        }
    }

    var text: String? { tree?.text }

    /// Returns a number, which several sources write as text.
    func number() throws(SourceError) -> Double {
        guard let number = AirSources.looseNumber(scalar) else { throw unreadable }
        return number
    }

    /// `nil` for anything but a number, for example `"NA"` or `"-"`.
    var looseNumber: Double? { try? number() }

    /// Seconds since the Unix epoch of a time documented as UTC, with or without a zone.
    var universalTime: Int64? { text.flatMap { epochSeconds($0, zone: "Z") } }

    /// The text of a number, string or boolean; empty if missing or null.
    var scalar: String {
        switch tree {
        case .number(let text), .text(let text): text
        case .boolean(let isTrue): "\(isTrue)"
        case nil, .null: ""
        case .array, .object: "neither a number nor text"
        }
    }

    private var unreadable: SourceError {
        let location = path.isEmpty ? "the document" : String(onOneLine(path).prefix(100))
        return .unreadable("\(location) \(exists ? "has the wrong type" : "is missing")")
    }
}

/// Parses a decimal number with optional surrounding blanks, as several sources write them in text.
func looseNumber(_ text: String) -> Double? {
    let text = trimmed(text[...])
    // Excludes `nan`, `inf` and hexadecimal digits.
    return text.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) }) ? Double(text) : nil
}
