internal import Bytes
internal import WebSocket

/// An option that cannot be used, together with others or because of its file.
public struct FeedOptionError: Error {
    public let member: any PartialKeyPath<FeedClientOptions> & Sendable
    /// Position among several values of the member.
    public var index: Int?
    /// Path of the file that the member names.
    public var path: String?
    /// A usable value; nothing of a file's content, which may be secret.
    public let expected: String
}

extension FeedOptionError {
    init(_ error: TLSFileError) {
        let member: any PartialKeyPath<FeedClientOptions> & Sendable
        let content: String
        switch error.role {
        case .authorities:
            member = \.tls.caFile
            content = "certificates of authorities in PEM"
        case .certificate:
            member = \.tls.certificateFile
            content = "a certificate in PEM"
        case .key:
            member = \.tls.keyFile
            content = "the certificate's key in PEM, without a pass phrase"
        }
        self.init(member: member, path: error.path, expected: "\(content): \(error.reason)")
    }

    /// One line.
    public func line(_ flag: FeedClientOptions.FlagName) -> String {
        flag(member) + (path.map { " " + quoted($0) } ?? "") + ": expected \(expected)"
    }
}
