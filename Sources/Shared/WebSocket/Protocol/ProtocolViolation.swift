/// A violation of RFC 6455 or RFC 7692 by the peer.
struct ProtocolViolation: Error, Equatable, CustomStringConvertible {
    let description: String
    /// Status for the close frame sent in response (RFC 6455, section 7.4.1).
    let closeStatus: UInt16

    init(_ description: String, closeStatus: UInt16 = 1002) {
        self.description = description
        self.closeStatus = closeStatus
    }
}
