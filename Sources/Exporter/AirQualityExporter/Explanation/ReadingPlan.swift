import AirQuality
import Bytes
import JSON

/// A way to read messages: values of the flags of fields, or a program in jq's language.
struct ReadingPlan: Hashable {
    var items = ""
    var cityField = "city"
    var valueField = "aqi"
    var program: String?

    static let standard = ReadingPlan()

    var format: FeedFormat {
        program == nil
            ? FeedFormat(items: jsonPointer(items) ?? [], cityField: cityField, valueField: valueField) : FeedFormat()
    }

    /// The flags as they are typed into a shell.
    var arguments: String {
        if let program { return "--feed.jq \(shellQuoted(program))" }
        var words: [String] = []
        if !items.isEmpty { words.append("--feed.items \(shellQuoted(items))") }
        if cityField != Self.standard.cityField { words.append("--feed.city-field \(shellQuoted(cityField))") }
        if valueField != Self.standard.valueField { words.append("--feed.value-field \(shellQuoted(valueField))") }
        return words.joined(separator: " ")
    }
}

/// The text as one word of a POSIX shell, on one line where the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain =
        !text.isEmpty
        && text.utf8.allSatisfy {
            isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || "/_-.:=@%+,".utf8.contains($0)
        }
    return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
}

/// A step on the way from a message to a value.
enum PathStep: Hashable {
    case field(String)
    case index(Int)
    /// Each element of an array.
    case each
    /// Each field of an object, whatever its name.
    case values
    /// Each line `data: …` of a text, which holds JSON.
    case events
    /// A text that holds JSON.
    case decoded

    /// The step in jq's language, to be put behind others.
    fileprivate var text: String {
        switch self {
        case .field(let name): Self.isIdentifier(name) ? ".\(name)" : "[\(jqText(name))]"
        case .index(let index): "[\(index)]"
        case .each, .values: "[]?"
        case .events:
            #" | split("\n")[] | select(startswith("data:")) | ltrimstr("data:") | fromjson"#
        case .decoded: " | fromjson"
        }
    }

    private static let keywords: Set = [
        "and", "or", "not", "if", "then", "else", "elif", "end", "as", "def", "reduce", "foreach", "try", "catch",
        "label",
        "import", "include",
    ]

    private static func isIdentifier(_ name: String) -> Bool {
        let isWord = name.utf8.allSatisfy {
            isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
        }
        return isWord && !name.isEmpty && !isDigit(name.utf8.first!) && !keywords.contains(name)
    }

    /// The steps as an expression of jq.
    static func expression(_ steps: some Sequence<PathStep>) -> String {
        var text = ""
        for step in steps {
            let next = step.text
            if next.first == "[", text.isEmpty || text.hasSuffix("fromjson") { text += text.isEmpty ? "." : " | ." }
            if next.first == ".", text.hasSuffix("fromjson") { text += " | " }
            text += text.isEmpty && next.first == " " ? String(next.dropFirst(3)) : next
        }
        return text.isEmpty ? "." : text
    }

    /// The steps as a JSON Pointer; `nil` where it cannot say them on one line.
    static func pointer(_ steps: some Sequence<PathStep>) -> String? {
        var text = ""
        for step in steps {
            switch step {
            case .field(let name):
                guard !name.unicodeScalars.contains(where: breaksLine) else { return nil }
                text += "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
            case .index(let index): text += "/\(index)"
            case .each, .values, .events, .decoded: return nil
            }
        }
        return text
    }

    /// The steps as the value of a flag of a field.
    static func fieldFlag(_ steps: [PathStep]) -> String? {
        if case .field(let name) = steps.first, steps.count == 1, name.utf8.first != UInt8(ascii: "/"), !name.isEmpty {
            return name.unicodeScalars.contains(where: breaksLine) ? nil : name
        }
        return steps.isEmpty ? nil : pointer(steps)
    }
}

/// The text as a literal of jq, on one line.
func jqText(_ text: String) -> String {
    var literal = "\""
    for unit in text.unicodeScalars {
        switch unit {
        case "\"", "\\": literal += "\\\(unit)"
        case _ where breaksLine(unit):
            let digits = String(unit.value, radix: 16)
            literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: literal.unicodeScalars.append(unit)
        }
    }
    return literal + "\""
}
