internal import Glibc
internal import HTTPText
internal import System

final class ServerConnection {
    private enum Phase {
        /// Before the handshake is complete.
        case asking
        case open
        /// The queue is drained, then the client is left to close the connection: closing it with unread input would
        /// cause a reset, which can overtake the last bytes sent.
        case leaving
        case ended
    }

    /// How long a client may make no progress in sending its request, reading queued bytes or closing.
    private static let timeout: Duration = .seconds(30)

    /// Key for per-client limits; see `IPAddress.client`.
    let client: [UInt8]
    private let socket: FileDescriptor
    private var maximumQueuedBytes: Int
    private var head = HTTPHeadReader(beginning: "GET ")
    private var reader = FrameReader(from: .client, maximumMessageBytes: 4 << 10)
    private var waiting = WaitingBytes()
    /// Payload of the latest ping; earlier ones get no pong (RFC 6455, section 5.5.3), so a flood fills no queue.
    private var pong: [UInt8]?
    private var phase = Phase.asking
    private(set) var isGreeted = false
    /// Monotonic time of the client's last progress, or of when it was first expected.
    private var wentOnAt = monotonicTime()

    init(_ socket: consuming FileDescriptor, client: [UInt8], maximumQueuedBytes: Int) {
        self.socket = socket
        self.client = client
        self.maximumQueuedBytes = maximumQueuedBytes
    }

    var descriptor: Int32 { socket.number }
    var isOpen: Bool { phase == .open }
    var isEnded: Bool { phase == .ended }
    var hasBytesToSend: Bool { !waiting.isEmpty || pong != nil }

    /// Monotonic time at which the connection ends without progress; `nil` while none is expected from the client.
    var deadline: Duration? { isOpen && waiting.isEmpty ? nil : wentOnAt + Self.timeout }

    func endIfDue(at now: Duration) {
        if let deadline, now >= deadline { end() }
    }

    private func end() { phase = .ended }

    // MARK: Sending

    /// Queues the greeting, and raises the queue limit by its size.
    func greet(with frames: [[UInt8]]) {
        isGreeted = true
        for frame in frames { waiting.append(frame) }
        maximumQueuedBytes += waiting.byteCount
    }

    /// Queues a frame; ends the connection if the queue exceeds its limit.
    func send(_ frame: [UInt8]) {
        guard waiting.isEmpty || waiting.byteCount + frame.count <= maximumQueuedBytes else { return end() }
        if waiting.isEmpty { wentOnAt = monotonicTime() }
        waiting.append(frame)
    }

    func flush() {
        if waiting.isEmpty { sendPong() }
        let before = waiting.byteCount
        guard waiting.send(to: descriptor) else { return end() }
        if waiting.byteCount < before { wentOnAt = monotonicTime() }
        if phase == .leaving, waiting.isEmpty { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    private func sendPong() {
        if let payload = pong.take() { send(FrameWriter.frame(.pong, payload, mask: nil)) }
    }

    /// Sends a close frame after the queued bytes; ends the connection at once if the handshake is not complete.
    func close(status: UInt16?) {
        if phase == .asking { return end() }
        guard isOpen else { return }
        sendPong()
        send(FrameWriter.frame(.close, FrameWriter.closePayload(status: status), mask: nil))
        leave()
    }

    private func leave() {
        if isEnded { return }
        phase = .leaving
        flush()
    }

    // MARK: Receiving

    /// Reads the available input; `fields` are added to the response that accepts the handshake.
    func receive(_ fields: [HTTPField]) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { return end() }
        let bytes = buffer.span.extracting(first: count)
        var position = 0
        if phase == .asking { readRequest(bytes, at: &position, fields) }
        readFrames(bytes, at: &position)
    }

    private func readRequest(_ bytes: Span<UInt8>, at position: inout Int, _ fields: [HTTPField]) {
        do throws(HandshakeRejection) {
            guard let head = try head.read(bytes, at: &position) else { return }
            waiting.append(try acceptHandshake(head, fields: fields))
            phase = .open
        } catch {
            waiting.append(error.response)
            leave()
        }
    }

    /// Discards messages; closes the connection if the client violates the protocol.
    private func readFrames(_ bytes: Span<UInt8>, at position: inout Int) {
        do throws(ProtocolViolation) {
            while isOpen, let event = try reader.next(bytes, at: &position) {
                switch event {
                case .message(.text, let text):
                    if String(validating: text, as: UTF8.self) == nil {
                        throw ProtocolViolation("text that is not UTF-8", closeStatus: 1007)
                    }
                // Frames of clients are masked, so no message is read in place.
                case .message, .messageInPlace, .pong: break
                case .ping(let payload): pong = payload
                case .close(let frame): close(status: frame.status)
                }
            }
        } catch {
            close(status: error.closeStatus)
        }
    }
}
