internal import AirQuality
internal import Bytes
internal import JSON

/// A value of a source's document. It knows the way that leads to it, so that an error says what is not as documented.
struct JSONNode {
    /// Elements of an array that are looked at; the longest real ones are the thousand locations of OpenAQ.
    private static let maximumElements = 1000

    private let value: Result<JSONTree, SourceError>
    private let path: String

    init(_ document: JSONTree) { self.init(.success(document), path: "") }

    private init(_ value: Result<JSONTree, SourceError>, path: String) {
        self.value = value
        self.path = path
    }

    /// A member of an object.
    subscript(name: String) -> JSONNode {
        let path = path.isEmpty ? name : "\(path).\(name)"
        switch value {
        case .success(.object(let fields)):
            let found = fields.last { $0.name == name }?.value
            return JSONNode(found.map { .success($0) } ?? .failure(.unreadable("\(path) is missing")), path: path)
        case .success: return JSONNode(.failure(wrongType), path: path)
        case .failure: return self
        }
    }

    /// `false` for what is missing or null.
    var exists: Bool { (try? value.get()).map { $0 != .null } ?? false }

    var isTrue: Bool { (try? value.get()) == .boolean(true) }

    /// Throws where it is missing.
    func required() throws(SourceError) -> JSONNode {
        _ = try value.get()
        return self
    }

    /// Throws unless it is an object.
    func object() throws(SourceError) -> JSONNode {
        guard case .object = try value.get() else { throw wrongType }
        return self
    }

    func elements() throws(SourceError) -> [JSONNode] {
        guard case .array(let elements) = try value.get() else { throw wrongType }
        return elements.prefix(Self.maximumElements).enumerated().map { index, element in
            JSONNode(.success(element), path: "\(path)[\(index)]")
        }
    }

    func text() throws(SourceError) -> String {
        guard case .text(let text) = try value.get() else { throw wrongType }
        return text
    }

    func number() throws(SourceError) -> Double {
        guard case .number(let text) = try value.get(), let number = Double(text) else { throw wrongType }
        return number
    }

    /// A number, also one in text, as several sources write them; `nil` for all else, such as `"NA"` and `"-"`.
    var looseNumber: Double? { (try? number()) ?? (try? text()).flatMap(AirSources.looseNumber) }

    /// A number or text as it is written, the type of any other value; empty for what is missing or null.
    var scalar: String {
        switch try? value.get() {
        case .number(let text), .text(let text): text
        case nil, .null: ""
        case .boolean: "boolean"
        case .array: "array"
        case .object: "object"
        }
    }

    private var wrongType: SourceError {
        let place = path.isEmpty ? "the document" : String(onOneLine(path).prefix(100))
        return .unreadable(exists ? "\(place) has the wrong type" : "\(place) is null")
    }
}

/// A number of digits, point and sign, with blanks around it or not, as several sources write them in text.
func looseNumber(_ text: String) -> Double? {
    let bytes = trimmed(Array(text.utf8)[...])
    guard bytes.allSatisfy({ "0123456789.-".utf8.contains($0) }) else { return nil }
    return Double(String(decoding: bytes, as: UTF8.self))
}

/// A value that a source gives as an index or a sub-index.
enum IndexValue: Equatable {
    case value(Double)
    /// The source says that it has none: blank, `NA`, `N/A` or `-`.
    case missing
    /// No number, or one out of range.
    case unusable
}

/// The meaning of a number or text that a source gives as an index.
func indexValue(_ text: String) -> IndexValue {
    let word = String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
    if ["", "-", "NA", "N/A", "NULL", "NONE"].contains(word.uppercased()) { return .missing }
    guard let value = looseNumber(word), IndexRange.isValid(value) else { return .unusable }
    return .value(value)
}
