/// A file for TLS that cannot be used.
public struct TLSFileError: Error {
    /// The purpose that the file was read for.
    public enum Role: String, Sendable { case authorities, certificate, key }

    public let role: Role
    public let path: String
    /// One line for people; nothing of the file's content.
    public let reason: String
}
