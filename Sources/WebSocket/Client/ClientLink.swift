internal import CLibWebSockets
internal import Glibc
internal import System

/// One connection of a client: what its loop knows of it, and the functions of libwebsockets for it.
///
/// Belongs to the loop's thread.
@safe final class ClientLink {
    let number: Int
    let dial: ConnectionState.Dial
    let request: HandshakeRequest
    /// The `lws` of it, from its first callback to its last.
    private var wsi: OpaquePointer?
    /// Nil before the end of the handshake, while it reads, and when nothing that still arrives matters.
    var reader: FrameReader?
    /// It ends when all is sent.
    var isEnding = false
    /// Why the server's certificate was refused.
    var certificateFault: String?
    private var isOpen = false
    private var hasHeaders = true
    private var frames: [UInt8] = []
    /// Only the newest ping is answered (RFC 6455, section 5.5.3): a flood of them fills no queue.
    private var pong: [UInt8]?

    init(number: Int, dial: ConnectionState.Dial, request: HandshakeRequest) {
        self.number = number
        self.dial = dial
        self.request = request
    }

    /// Its callbacks have begun.
    func begin(_ wsi: OpaquePointer) {
        unsafe self.wsi = wsi
    }

    /// Its callbacks are over.
    func end() {
        unsafe wsi = nil
        reader = nil
    }

    /// The handshake is done.
    func open(_ reader: consuming FrameReader) {
        self.reader = consume reader
        isOpen = true
        // Also when there is nothing to send: `write` has to let the answer's head go.
        wantsToWrite()
    }

    func send(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) {
        switch opcode {
        case .pong: pong = payload
        case .close:
            // After it nothing may be sent (section 5.5.1).
            frames += takePong() + frame(.close, payload)
        default: frames += frame(opcode, payload)
        }
        wantsToWrite()
    }

    private func takePong() -> [UInt8] {
        pong.take().map { frame(.pong, $0) } ?? []
    }

    private func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) -> [UInt8] {
        FrameWriter.frame(opcode, payload, mask: .random(in: .min ... .max))
    }

    private func wantsToWrite() {
        if let wsi = unsafe wsi { unsafe lws_callback_on_writable(wsi) }
    }

    /// Sends what waits; false when the connection is to end.
    func write() -> Bool {
        guard isOpen, let wsi = unsafe wsi else { return true }
        if hasHeaders {
            // Else libwebsockets would keep the answer's head, and drop the connection after six minutes for that.
            unsafe lws_http_headers_detach(wsi)
            hasHeaders = false
        }
        frames += takePong()
        if !frames.isEmpty {
            let padding = Int(CLibWebSockets_PRE)
            var buffer = [UInt8](repeating: 0, count: padding) + frames
            frames = []
            let written = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
                // `LWS_WRITE_RAW` is a macro for this one. What the socket does not take is kept by libwebsockets, which then calls back when it is sent.
                unsafe lws_write(wsi, buffer.baseAddress! + padding, buffer.count - padding, LWS_WRITE_HTTP)
            }
            if written < 0 { return false }
        }
        let isSent = unsafe lws_partial_buffered(wsi) == 0
        return !(isEnding && isSent)
    }

    /// Lets libwebsockets read once; what it reads comes as `LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ`. False when the
    /// connection is to end.
    func receive() -> Bool {
        guard let wsi = unsafe wsi else { return false }
        var buffer: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        guard unsafe lws_http_client_read(wsi, &buffer, &count) == 0 else { return false }
        // As long as there is something to read, libwebsockets does not look whether it could write: a flood would leave
        // its pings unanswered.
        let hasFrames = pong != nil || !frames.isEmpty
        let isSent = unsafe lws_partial_buffered(wsi) == 0
        return hasFrames && isSent ? write() : true
    }

    /// Ends when all is sent, or when the peer does not read it, after that long.
    func endAfterSending(orIn seconds: Int32) {
        guard let wsi = unsafe wsi else { return }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, seconds)
        unsafe lws_callback_on_writable(wsi)
    }

    /// Ends at once; the last callbacks come from within. Not from a callback of its own.
    func kill() {
        guard let wsi = unsafe wsi else { return }
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC)
    }

    /// Bytes on their way to a peer that does not acknowledge them end the connection after that long (tcp(7)).
    func setUserTimeout(_ timeout: Duration) {
        guard let wsi = unsafe wsi else { return }
        var milliseconds = timeout.pollMilliseconds
        let size = socklen_t(MemoryLayout.size(ofValue: milliseconds))
        _ = unsafe setsockopt(
            lws_get_socket_fd(wsi), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
    }

    /// Reads the alert with which the server has ended the connection, when libwebsockets has not come to it. Only as
    /// long as the callback of the end runs.
    func readAlert() {
        guard let wsi = unsafe wsi, let tls = unsafe lws_get_ssl(wsi) else { return }
        var byte: UInt8 = 0
        unsafe SSL_peek(tls, &byte, 1)
        ERR_clear_error()
    }

    func answerHead() -> HandshakeAnswer.Head {
        guard let wsi = unsafe wsi else { return HandshakeAnswer.Head(status: 0) }
        return HandshakeAnswer.Head(
            status: unsafe Int(lws_http_client_http_response(wsi)),
            upgrade: header(WSI_TOKEN_UPGRADE), connection: header(WSI_TOKEN_CONNECTION),
            accept: header(WSI_TOKEN_ACCEPT), extensions: header(WSI_TOKEN_EXTENSIONS),
            location: header(WSI_TOKEN_HTTP_LOCATION), retryAfter: header(WSI_TOKEN_HTTP_RETRY_AFTER),
            hasBody: header(WSI_TOKEN_HTTP_CONTENT_LENGTH) != nil || header(WSI_TOKEN_HTTP_TRANSFER_ENCODING) != nil)
    }

    /// Corresponds to `lws_hdr_copy`; nil when it is not there.
    private func header(_ token: lws_token_indexes) -> String? {
        guard let wsi = unsafe wsi else { return nil }
        let length = Int(unsafe lws_hdr_total_length(wsi, token))
        guard length > 0 else { return nil }
        var text = [CChar](repeating: 0, count: length + 1)
        let copied = unsafe lws_hdr_copy(wsi, &text, Int32(text.count), token)
        guard copied >= 0 else { return nil }
        return String(decoding: text.prefix(Int(copied)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
