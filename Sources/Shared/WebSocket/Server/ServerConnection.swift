/// One client of a server.
///
/// Belongs to the loop's thread.
final class ServerConnection {
    enum Event {
        /// The handshake is over.
        case opened(group: Int)
        /// A whole message, unless it is too long.
        case message([UInt8])
    }

    /// Of what a client sends; longer messages are left out.
    static let maximumMessageBytes = 64 << 10
    /// From the connection to the request, and from our close frame to the client's.
    private static let patience: Int32 = 10
    /// A pong waits as long as more than that does.
    private static let pongRoom = 64 << 10

    private var output: SocketOutput
    private var head = HTTPHeadReader()
    /// Nil before the end of the handshake, while it reads, and when nothing that still arrives matters.
    private var reader: FrameReader?
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?
    /// Between the handshake and the close frame that we send.
    private(set) var isOpen = false
    /// Nil before the end of the handshake.
    private(set) var group: Int?
    /// The number of the first broadcast that is for it.
    private(set) var firstMessage = 0
    private(set) var greetingBytes = 0
    private var isEnding = false

    init(_ socket: Socket) {
        output = SocketOutput(socket)
        socket.setDeadline(seconds: Self.patience)
    }

    var waitingBytes: Int { output.byteCount }

    /// A frame of a message; nothing before the handshake or after a close frame.
    func send(_ frame: [UInt8]) {
        if isOpen { output.append(frame) }
    }

    /// Sends what comes before all else.
    func greet(_ messages: [[UInt8]], firstMessage: Int) {
        self.firstMessage = firstMessage
        for message in messages {
            let frame = FrameWriter.frame(.text, message, mask: nil)
            greetingBytes += frame.count
            send(frame)
        }
    }

    /// After what waits; at once before the end of the handshake.
    func close(status: UInt16?) {
        if group == nil, !isEnding { kill() }
        guard isOpen else { return }
        isOpen = false
        sendPong()
        output.append(FrameWriter.frame(.close, FrameWriter.closePayload(status: status), mask: nil))
        output.socket.setDeadline(seconds: Self.patience)
    }

    func flush() {
        if output.byteCount <= Self.pongRoom { sendPong() }
        output.flush()
    }

    /// Ends in the loop's next turn.
    func kill() {
        isOpen = false
        isEnding = true
        output.socket.kill()
    }

    /// Reads what has arrived.
    /// - Parameters:
    ///   - fields: more fields of an answer that accepts.
    ///   - place: what is at a path.
    func receive(
        _ bytes: Span<UInt8>, fields: [HTTPField], place: (String) -> WebSocketServerPlace, onEvent: (Event) -> Void
    ) {
        if isEnding { return }
        var position = 0
        if reader == nil {
            do throws(HTTPHeadError) {
                guard let head = try head.read(bytes, at: &position) else { return }
                answer(ServerHandshake(head, fields: fields), at: place(head.path))
            } catch {
                answer(ServerHandshake(error), at: .group(0))
            }
            if isOpen, let group { onEvent(.opened(group: group)) }
        }
        readFrames(bytes.extracting(droppingFirst: position), onEvent)
    }

    private func answer(_ answer: ServerHandshake, at place: WebSocketServerPlace) {
        switch (answer, place) {
        case (.accepted(let bytes), .group(let group)):
            self.group = group
            output.append(bytes)
            output.socket.setDeadline(seconds: nil)
            reader = FrameReader(
                from: .client, maximumMessageBytes: Self.maximumMessageBytes)
            isOpen = true
        case (.accepted, .nowhere(let reason)): self.answer(.notFound(reason), at: place)
        case (.refused(let bytes), _):
            output.append(bytes)
            end()
        }
    }

    private func readFrames(_ bytes: Span<UInt8>, _ onEvent: (Event) -> Void) {
        guard var reader = reader.take() else { return }
        var violation: ProtocolViolation?
        do throws(ProtocolViolation) {
            try reader.read(
                bytes,
                onMessage: { kind, message in
                    if violation == nil { violation = take(kind, message, onEvent) }
                },
                onControl: { control in
                    if violation != nil { return }
                    switch control {
                    case .ping(let payload): answerPing(payload)
                    case .pong: break
                    case .close(let frame):
                        close(status: frame.status)
                        end()
                    }
                })
        } catch {
            violation = violation ?? error
        }
        if let violation {
            close(status: violation.closeStatus)
            end()
        }
        if !isEnding { self.reader = consume reader }
    }

    private func take(
        _ kind: WebSocketMessageKind, _ message: Span<UInt8>, _ onEvent: (Event) -> Void
    ) -> ProtocolViolation? {
        let bytes = message.indices.map { message[$0] }
        switch kind {
        case .tooLarge: break
        case .text where String(validating: bytes, as: UTF8.self) == nil:
            return ProtocolViolation("text that is not UTF-8", closeStatus: 1007)
        case .text, .binary: onEvent(.message(bytes))
        }
        return nil
    }

    private func answerPing(_ payload: [UInt8]) {
        guard isOpen else { return }
        pong = payload
        output.socket.wantToWrite()
    }

    private func sendPong() {
        if let payload = pong.take() { output.append(FrameWriter.frame(.pong, payload, mask: nil)) }
    }

    /// After what waits; it is for the server to end the connection (RFC 6455, section 7.1.1).
    private func end() {
        isOpen = false
        isEnding = true
        output.end(within: Self.patience)
    }
}
