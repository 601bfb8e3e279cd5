internal import Bytes

/// The header fields of a message, in their order.
public struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public var fields: [HTTPField]

    public init(_ fields: [HTTPField] = []) { self.fields = fields }

    public init(dictionaryLiteral fields: (String, String)...) {
        self.fields = fields.map { HTTPField(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name.
    public func first(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of all fields of that name, joined with `, ` (RFC 9110, section 5.3); `nil` when there is none.
    public func joined(_ name: String) -> String? {
        let values = fields.filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Number of fields of that name.
    public func count(_ name: String) -> Int { fields.count { $0.isNamed(name) } }

    /// The members of all fields of that name, each a comma-separated list (RFC 9110, section 5.6.1).
    public func list(_ name: String) -> [String] {
        (joined(name) ?? "").split(separator: ",").map { String(trimmed($0)) }.filter { !$0.isEmpty }
    }
}
