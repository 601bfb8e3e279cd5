internal import Bytes

/// A word in a jq program that names a function, a keyword or a variable: not a field, a key of an object, or a part of
/// a comment or a string.
struct JQWord: Equatable {
    /// A variable's begins with `$`.
    let name: String
    /// Index of its first byte.
    let offset: Int
    /// Whether the program defines a function or a parameter of this name here.
    var isDefinition = false

    static func list(in text: some Collection<UInt8>) -> [JQWord] {
        var scanner = Scanner(text: Array(text))
        while scanner.step() {}
        return scanner.words
    }

    private struct Scanner {
        let text: [UInt8]
        var index = 0
        var words: [JQWord] = []
        /// Open brackets; a quotation mark stands for an interpolation within a string.
        var brackets: [UInt8] = []
        /// The last byte of the previous token.
        var previous: UInt8 = 0
        /// Whether the previous word was `def`, its name or a parameter.
        var isInDefinition = false

        /// Reads a token; `false` at the end.
        mutating func step() -> Bool {
            guard index < text.count else { return false }
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "#"): index = text[index...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            case UInt8(ascii: "\""): string()
            case UInt8(ascii: ")") where brackets.last == UInt8(ascii: "\""):
                brackets.removeLast()
                string()
            case _ where isJSONBlank(byte): index += 1
            case _ where isLetter(byte): word()
            default: mark(byte)
            }
            return true
        }

        /// Skips a quotation mark, or the end of an interpolation, and what follows in the string.
        private mutating func string() {
            index += 1
            previous = UInt8(ascii: "\"")
            while index < text.count, text[index] != UInt8(ascii: "\"") {
                guard text[index] == UInt8(ascii: "\\") else {
                    index += 1
                    continue
                }
                let isInterpolation = index + 1 < text.count && text[index + 1] == UInt8(ascii: "(")
                index = min(index + 2, text.count)
                if isInterpolation {
                    brackets.append(UInt8(ascii: "\""))
                    previous = UInt8(ascii: "(")
                    return
                }
            }
            index += 1
        }

        private mutating func mark(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): brackets.append(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"): _ = brackets.popLast()
            default: break
            }
            if byte == UInt8(ascii: ":") || byte == UInt8(ascii: ")") { isInDefinition = false }
            index += 1
            // A number such as 1e5 has no word in it.
            while isDigit(byte), index < text.count, isPartOfWord(text[index]) { index += 1 }
            previous = byte
        }

        private mutating func word() {
            let start = index
            while index < text.count, isPartOfWord(text[index]) { index += 1 }
            let name = String(decoding: text[start..<index], as: UTF8.self)
            let isField = previous == UInt8(ascii: ".") && text[start - 1] == previous
            let isVariable = previous == UInt8(ascii: "$")
            let beginsEntry = previous == UInt8(ascii: "{") || previous == UInt8(ascii: ",")
            let isKey = brackets.last == UInt8(ascii: "{") && beginsEntry
            previous = text[index - 1]
            if isField || isKey { return }
            if name == "def" {
                isInDefinition = true
                return
            }
            words.append(
                JQWord(name: isVariable ? "$" + name : name, offset: start, isDefinition: isInDefinition))
        }

        private func isLetter(_ byte: UInt8) -> Bool {
            (isLetterOrDigit(byte) && !isDigit(byte)) || byte == UInt8(ascii: "_")
        }

        private func isPartOfWord(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || byte == UInt8(ascii: "_") }
    }
}
