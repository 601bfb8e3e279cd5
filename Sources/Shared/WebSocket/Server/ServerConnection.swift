internal import Glibc
internal import HTTPText
internal import System

/// One client of a server.
final class ServerConnection {
    private enum Phase {
        /// Before the end of the handshake.
        case asking
        case open
        /// The rest is sent, and then it is for the client to end the connection: unread bytes of it would turn an end
        /// of ours into a reset, which can overtake what was sent last.
        case leaving
        case ended
    }

    /// Time within which a client has to do its part: to send its request, to take some of what waits for it, to end.
    private static let timeout: Duration = .seconds(30)

    /// Limits what one client may have of the server, see `IPAddress.client`.
    let client: [UInt8]
    private let socket: FileDescriptor
    private var maximumQueuedBytes: Int
    private var head = HTTPHeadReader(beginning: "GET ")
    private var reader = FrameReader(from: .client, maximumMessageBytes: 4 << 10)
    private var waiting = WaitingBytes()
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?
    private var phase = Phase.asking
    private(set) var isGreeted = false
    /// Monotonic time at which the client last did its part, or first had one.
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

    /// Monotonic time at which the connection ends unless it has gone on; `nil`: it is not the client's turn.
    var deadline: Duration? { isOpen && waiting.isEmpty ? nil : wentOnAt + Self.timeout }

    func endIfDue(at now: Duration) {
        if let deadline, now >= deadline { phase = .ended }
    }

    // MARK: Sending

    /// Sends the first messages, however many bytes they have: others may wait besides.
    func greet(with frames: [[UInt8]]) {
        isGreeted = true
        for frame in frames { waiting.append(frame) }
        maximumQueuedBytes += waiting.byteCount
    }

    /// Sends a frame, or ends the connection when too much waits.
    func send(_ frame: [UInt8]) {
        guard waiting.isEmpty || waiting.byteCount + frame.count <= maximumQueuedBytes else {
            phase = .ended
            return
        }
        if waiting.isEmpty { wentOnAt = monotonicTime() }
        waiting.append(frame)
    }

    /// Sends as much as the kernel takes.
    func flush() {
        if waiting.isEmpty { sendPong() }
        let before = waiting.byteCount
        guard waiting.send(to: descriptor) else {
            phase = .ended
            return
        }
        if waiting.byteCount < before { wentOnAt = monotonicTime() }
        if phase == .leaving, waiting.isEmpty { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    private func sendPong() {
        if let payload = pong.take() { send(FrameWriter.frame(.pong, payload, mask: nil)) }
    }

    /// Sends a close frame after what waits; ends at once before the end of the handshake.
    func close(status: UInt16?) {
        if phase == .asking { phase = .ended }
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

    /// Reads what has arrived; `fields` are additional header fields of a response that accepts.
    func receive(_ fields: [HTTPField]) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { phase = .ended }
            return
        }
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

    /// Ignores the messages of a client as long as it keeps to the protocol.
    private func readFrames(_ bytes: Span<UInt8>, at position: inout Int) {
        do throws(ProtocolViolation) {
            while isOpen, let event = try reader.next(bytes, at: &position) {
                switch event {
                case .message(.text, let text):
                    if String(validating: text, as: UTF8.self) == nil {
                        throw ProtocolViolation("text that is not UTF-8", closeStatus: 1007)
                    }
                // Frames of clients are masked, so that no message lies in place.
                case .message, .messageInPlace: break
                case .ping(let payload): pong = payload
                case .close(let frame): close(status: frame.status)
                }
            }
        } catch {
            close(status: error.closeStatus)
        }
    }
}
