internal import HTTPText

/// The response of one transfer, as it arrives.
final class Transfer {
    private static let maximumHeaderBytes = 64 << 10

    private let maximumBodyBytes: Int
    private let isWanted: () -> Bool
    private(set) var isCancelled = false
    private(set) var body: [UInt8] = []
    private(set) var headers = HTTPFields()
    private var headerBytes = 0
    /// The error for headers or a body that exceeded the limit.
    private(set) var excess: String?

    init(maximumBodyBytes: Int, _ isWanted: @escaping () -> Bool) {
        self.maximumBodyBytes = maximumBodyBytes
        self.isWanted = isWanted
    }

    /// False when the transfer is to end.
    func goOn() -> Bool {
        if !isCancelled, !isWanted() { isCancelled = true }
        return !isCancelled
    }

    /// The error for a body beyond the limit.
    var tooLong: String { "the body has more than \(maximumBodyBytes) bytes" }

    /// False when the transfer is to end.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= maximumBodyBytes else {
            excess = tooLong
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    func receive(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            excess = "the header has more than \(Self.maximumHeaderBytes) bytes"
            return false
        }
        let line = unsafe Array(bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        // A line of status begins a header: the last one counts, those of status 1xx do not.
        if line.starts(with: Array("HTTP/".utf8)) {
            headers = HTTPFields()
        } else if let field = HTTPField(line: line[...]) {
            headers.fields.append(field)
        }
        return true
    }
}
