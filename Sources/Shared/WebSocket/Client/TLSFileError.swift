public struct TLSFileError: Error {
    public enum Role: String, Sendable { case authorities, certificate, key }

    public let role: Role
    public let path: String
    /// One-line, human-readable explanation; quotes nothing from the file.
    public let reason: String
}
