/// A member of records that is an object whose own members are read.
public struct JSONObjectMember: Sendable {
    /// Its place among the members.
    public let member: Int
    public let names: [String]
    /// Names that are none of these are remembered.
    public let notesUnknown: Bool

    public init(member: Int, names: [String], notesUnknown: Bool = true) {
        self.member = member
        self.names = names
        self.notesUnknown = notesUnknown
    }
}
