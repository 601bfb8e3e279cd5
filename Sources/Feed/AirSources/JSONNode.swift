internal import Bytes
internal import JSON

/// A value of a source's document. It knows the way that leads to it, so that an error says what is not as documented.
struct JSONNode {
    /// Elements of an array that are looked at; the longest real ones are the thousand locations of OpenAQ.
    private static let maximumElements = 1000

    /// `nil` for what is missing.
    let tree: JSONTree?
    var path = ""

    subscript(name: String) -> JSONNode { JSONNode(tree: tree?[name], path: path.isEmpty ? name : "\(path).\(name)") }

    /// `false` for what is missing or null.
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

    /// A number, also one in text, as several sources write them.
    func number() throws(SourceError) -> Double {
        guard let number = AirSources.looseNumber(scalar) else { throw unreadable }
        return number
    }

    /// `nil` for all but a number, such as `"NA"` and `"-"`.
    var looseNumber: Double? { try? number() }

    /// Seconds since the Unix epoch of text that a source documents as universal time, with or without its zone.
    var universalTime: Int64? { text.flatMap { epochSeconds($0, zone: "Z") } }

    /// A number, text or truth as it is written; empty for what is missing or null.
    var scalar: String {
        switch tree {
        case .number(let text), .text(let text): text
        case .boolean(let isTrue): "\(isTrue)"
        case nil, .null: ""
        case .array, .object: "neither a number nor text"
        }
    }

    private var unreadable: SourceError {
        let place = path.isEmpty ? "the document" : String(onOneLine(path).prefix(100))
        return .unreadable("\(place) \(exists ? "has the wrong type" : "is missing")")
    }
}

/// A decimal number, with blanks around it or not, as several sources write them in text.
func looseNumber(_ text: String) -> Double? {
    let text = trimmed(text[...])
    // Neither names such as `nan` nor hexadecimal digits.
    return text.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) }) ? Double(text) : nil
}
