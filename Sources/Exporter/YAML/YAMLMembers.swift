package import System

/// The members of a mapping with a fixed set of keys: each is taken once, and what is left then is unknown.
package struct YAMLMembers {
    private var left: [(key: String, value: YAMLField)]
    private var taken: [String] = []

    /// - Parameter field: a mapping; `nil` and null have no members.
    package init(_ field: YAMLField?) throws(SystemError) {
        guard let field, !field.isNull else {
            left = []
            return
        }
        left = try field.mapping()
    }

    /// The value of a key; `nil` when it is not there.
    package mutating func take(_ key: String) -> YAMLField? {
        taken.append(key)
        return left.firstIndex { $0.key == key }.map { left.remove(at: $0).value }
    }

    /// To be called when all keys have been taken.
    ///
    /// - Throws: for the first member that nobody took, with the keys that there are.
    package func end() throws(SystemError) {
        if let member = left.first { throw member.value.unknown(among: taken.joined(separator: ", ")) }
    }
}
