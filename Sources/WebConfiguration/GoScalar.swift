internal import Bytes

/// What a YAML scalar is to a Go program that decodes it with yaml.v2: the schema's files were written for that.
///
/// See https://pkg.go.dev/gopkg.in/yaml.v2, which follows YAML 1.1 with differences of its own: `yes` is a boolean,
/// `010` is eight, `1:30` is text.
enum GoScalar: Equatable {
    case null
    case boolean(Bool)
    /// Nil: beyond 64 bits with sign.
    case integer(Int64?)
    case float(Double)
    case text

    /// Nil when the tag wants something else than the text is.
    init?(_ scalar: YAMLNode.Scalar) {
        switch scalar.tag {
        case nil:
            self = scalar.isPlain ? Self(plain: scalar.text) : .text
        case "tag:yaml.org,2002:null":
            guard Self(plain: scalar.text) == .null else { return nil }
            self = .null
        case "tag:yaml.org,2002:bool":
            guard case .boolean(let value) = Self(plain: scalar.text) else { return nil }
            self = .boolean(value)
        case "tag:yaml.org,2002:int":
            guard case .integer(let value) = Self(plain: scalar.text) else { return nil }
            self = .integer(value)
        case "tag:yaml.org,2002:float":
            switch Self(plain: scalar.text) {
            case .integer(let value?): self = .float(Double(value))
            case .integer(nil): self = .integer(nil)
            case .float(let value): self = .float(value)
            default: return nil
            }
        case "tag:yaml.org,2002:timestamp":
            return nil
        default:
            self = .text
        }
    }

    private init(plain text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": self = .null
        case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON": self = .boolean(true)
        case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF": self = .boolean(false)
        case ".nan", ".NaN", ".NAN": self = .float(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": self = .float(.infinity)
        case "-.inf", "-.Inf", "-.INF": self = .float(-.infinity)
        default: self = Self(number: text) ?? .text
        }
    }

    private init?(number text: String) {
        guard let first = text.utf8.first, "+-.0123456789".utf8.contains(first) else { return nil }
        // Underscores may stand anywhere, but not in a number that begins with its point.
        let digits = first == UInt8(ascii: ".") ? Array(text.utf8) : text.utf8.filter { $0 != UInt8(ascii: "_") }
        if let integer = Self(integer: digits) {
            self = integer
        } else if Self.isFloat(digits), let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite {
            self = .float(value)
        } else {
            return nil
        }
    }

    private init?(integer text: [UInt8]) {
        let isNegative = text.first == UInt8(ascii: "-")
        var digits = isNegative || text.first == UInt8(ascii: "+") ? text[1...] : text[...]
        var radix = 10
        if digits.count > 1, digits.first == UInt8(ascii: "0") {
            switch digits[digits.startIndex + 1] | 0x20 {
            case UInt8(ascii: "x"): radix = 16
            case UInt8(ascii: "o"): radix = 8
            case UInt8(ascii: "b"): radix = 2
            default: radix = 0
            }
            digits = digits.dropFirst(radix == 0 ? 1 : 2)
            if radix == 0 { radix = 8 }
        }
        // The standard library's initializer would take one more sign.
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            let magnitude = UInt64(String(decoding: digits, as: UTF8.self), radix: radix)
        else { return nil }
        if isNegative {
            guard magnitude <= Int64.min.magnitude else { return nil }
            self = .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        } else {
            self = .integer(Int64(exactly: magnitude))
        }
    }

    /// An optional sign, digits with at most one point among or around them, an optional exponent.
    private static func isFloat(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        func skip(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func skipDigits() -> Int {
            let count = rest.prefix(while: isDigit).count
            rest = rest.dropFirst(count)
            return count
        }
        _ = skip("+-")
        let whole = skipDigits()
        if skip(".") {
            guard whole + skipDigits() > 0 else { return false }
        } else if whole == 0 {
            return false
        }
        if skip("eE") {
            _ = skip("+-")
            guard skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
