/// What a close frame says (RFC 6455, section 5.5.1).
struct CloseFrame: Equatable {
    /// Nil when the frame is empty.
    let status: UInt16?
    let reason: String

    init(payload: [UInt8]) throws(ProtocolViolation) {
        guard payload.count != 1 else { throw ProtocolViolation("close frame of one byte") }
        guard payload.count > 1 else {
            status = nil
            reason = ""
            return
        }
        let status = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.isValid(status) else { throw ProtocolViolation("invalid close status \(status)") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw ProtocolViolation("close reason is not UTF-8")
        }
        self.status = status
        self.reason = reason
    }

    /// What may stand in a frame: section 7.4 and the registry that it set up.
    private static func isValid(_ status: UInt16) -> Bool {
        switch status {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// One line for people.
    var description: String {
        guard let status else { return "closed by the server without a status" }
        return "closed by the server with status \(status)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}
