internal import Bytes

extension [HTTPField] {
    public func first(_ name: String) -> String? { first { $0.isNamed(name) }?.value }

    /// The values of all fields with this name, joined with `, ` (RFC 9110, section 5.3); `nil` if there are none.
    public func joined(_ name: String) -> String? {
        let values = filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    public func count(_ name: String) -> Int { count { $0.isNamed(name) } }

    /// The elements of all fields with this name, each a comma-separated list (RFC 9110, section 5.6.1).
    public func list(_ name: String) -> [String] {
        (joined(name) ?? "").split(separator: ",").map { String(trimmed($0)) }.filter { !$0.isEmpty }
    }
}
