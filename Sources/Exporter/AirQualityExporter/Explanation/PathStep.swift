import Bytes
import CommandLine
import JSON

/// A step on the path from a message to a value.
struct PathStep: Equatable {
    /// The step as jq code.
    let code: String
    /// Whether the code follows a `|` instead of the previous step directly.
    var isFilter = false
    /// The step as a token of a JSON Pointer; `nil` if it leads to several values or to a derived one.
    var token: String?
    /// The name of the field that the step leads to, if any.
    var name: FieldName?

    /// Compares only the code, which says the rest.
    static func == (one: PathStep, other: PathStep) -> Bool { one.code == other.code }

    /// Each element of an array.
    static let each = PathStep(code: "[]?")
    /// The value of each field of an object.
    static let values = PathStep(code: "[]")
    /// Each field of an object, as an object with `key` and `value`.
    static let entries = filter("to_entries[]")
    static let key = PathStep(code: ".key", token: "key")
    static let value = PathStep(code: ".value", token: "value")
    /// The number in a text. Does not match a number with thousands separators, of which it would read only a part.
    static let number = filter(
        #"capture("^[^0-9]*(?<n>[0-9]+([.][0-9]+|,[0-9]{1,2})?)(?![.,]?[0-9])").n | gsub(","; ".")"#)

    static func field(_ name: String) -> PathStep {
        let isWord = name.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
        let isIdentifier = isWord && !(name.utf8.first.map(isDigit) ?? true)
        return PathStep(code: "." + (isIdentifier ? name : jsonLiteral(name)), token: name, name: FieldName(name))
    }

    /// - Parameter name: the name of the column, if it has one.
    static func index(_ index: Int, name: String? = nil) -> PathStep {
        PathStep(code: "[\(index)]", token: "\(index)", name: name.map(FieldName.init))
    }

    static func filter(_ code: String) -> PathStep { PathStep(code: code, isFilter: true) }
}

extension Collection where Element == PathStep {
    /// The steps as a jq expression.
    var expression: String {
        var text = ""
        var mayFollow = false
        for step in self {
            let isSuffix = !step.isFilter && mayFollow
            if !text.isEmpty, !isSuffix { text += " | " }
            text += (step.code.first == "[" && !step.isFilter && !isSuffix ? "." : "") + step.code
            mayFollow = !step.isFilter || step.code.hasSuffix("[]")
        }
        return text.isEmpty ? "." : text
    }

    /// The steps as a part of another jq expression.
    var term: String { expression.contains(" | ") ? "(\(expression))" : expression }

    /// The steps as a JSON Pointer on one line; `nil` if there is none.
    var pointer: String? {
        let tokens = compactMap { $0.token?.replacingScalars("~", with: "~0").replacingScalars("/", with: "~1") }
        let pointer = tokens.map { "/" + $0 }.joined()
        return tokens.count == count && !pointer.unicodeScalars.contains(where: breaksLine) ? pointer : nil
    }

    /// The steps as the value of a flag that names a field; `nil` if there is none.
    var field: String? {
        guard let pointer, !pointer.isEmpty else { return nil }
        let name = String(pointer.dropFirst())
        return elementsEqual([.field(name)]) && ValueFormat.feedField().parse(name) != nil ? name : pointer
    }
}
