/// Why the program must not go on with this file. Whatever else is wrong with it, the program serves from memory.
public struct StorageError: Error, Equatable, CustomStringConvertible {
    public enum Code: Sendable {
        /// Another process has it open, or another part of this one.
        case inUse
        /// A later version of the program wrote it.
        case newerSchema
        /// A database of another program.
        case foreign
        /// A directory, a device or the like, or no name at all.
        case notAFile
    }

    public var code: Code
    /// One line that names the file, what is wrong and what was expected.
    public var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
