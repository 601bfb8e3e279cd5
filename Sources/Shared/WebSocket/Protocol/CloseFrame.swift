/// The content of a close frame (RFC 6455, section 5.5.1).
struct CloseFrame: Equatable {
    /// `nil` if the frame is empty.
    private(set) var status: UInt16?
    private(set) var reason = ""

    init(payload: [UInt8]) throws(ProtocolViolation) {
        if payload.isEmpty { return }
        guard payload.count > 1 else { throw ProtocolViolation("close frame of one byte") }
        let status = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.allowed.contains(where: { $0.contains(status) }) else {
            throw ProtocolViolation("invalid close status \(status)")
        }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw ProtocolViolation("close reason is not UTF-8", closeStatus: 1007)
        }
        self.status = status
        self.reason = reason
    }

    /// Statuses allowed in a frame: section 7.4 and the IANA registry it established.
    private static let allowed: [ClosedRange<UInt16>] = [1000...1003, 1007...1014, 3000...4999]

    /// Without the reason, which is the peer's text.
    var description: String {
        status.map { "closed by the server with status \($0)" } ?? "closed by the server without a status"
    }
}
