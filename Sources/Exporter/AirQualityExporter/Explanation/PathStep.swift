import Bytes
import JSON

/// A step on the way from a message to a value.
struct PathStep: Hashable {
    /// The step in jq's language.
    let code: String
    /// Whether the code is put behind a `|`, not directly behind the step before.
    var isFilter = false
    /// The step as a token of a JSON Pointer; `nil`: a pointer cannot say it.
    var token: String?
    /// The name of the field that the step leads to; `nil`: it has none.
    var name: String?

    /// Each element of an array.
    static let each = PathStep(code: "[]?")
    /// Each field of an object, whatever its name.
    static let values = PathStep(code: "[]")
    /// Each field of an object as an object with `key` and `value`.
    static let entries = filter("to_entries[]")

    static func field(_ name: String) -> PathStep {
        let isWord = name.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
        let isIdentifier = isWord && !(name.utf8.first.map(isDigit) ?? true)
        let token = name.unicodeScalars.contains(where: breaksLine) ? nil : name
        return PathStep(code: isIdentifier ? ".\(name)" : "[\(jsonLiteral(name))]", token: token, name: name)
    }

    /// - Parameter name: the name of the column, where the rows have names.
    static func index(_ index: Int, name: String? = nil) -> PathStep {
        PathStep(code: "[\(index)]", token: "\(index)", name: name)
    }

    static func filter(_ code: String) -> PathStep { PathStep(code: code, isFilter: true) }
}

extension Collection where Element == PathStep {
    /// The steps as an expression of jq.
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

    /// The steps as a JSON Pointer; `nil` where it cannot say them on one line.
    var pointer: String? {
        let tokens = compactMap { $0.token?.replacing("~", with: "~0").replacing("/", with: "~1") }
        return tokens.count == count ? tokens.map { "/" + $0 }.joined() : nil
    }
}
