internal import CLibWebSockets
internal import Synchronization

/// What runs on a server's thread: hands messages out to the clients.
@safe final class ServerLoop {
    /// A client of the server.
    @safe private final class Client {
        let wsi: OpaquePointer
        var queue: [SharedMessage] = []
        /// Of the queue that is sent already.
        var sent = 0
        var queuedBytes = 0
        /// With which it is told goodbye when its queue is empty.
        var closeStatus: UInt16?
        var incoming: [UInt8] = []

        init(_ wsi: OpaquePointer) {
            unsafe self.wsi = wsi
        }
    }

    static let mostMessagesPerTurn = 32
    /// Of what a client sends; longer messages are left out.
    static let longestIncomingBytes = 64 << 10

    private let maximumQueuedBytes: Int
    /// Header lines of the handshake's answer; each ends with CR LF.
    private let headerLines: [UInt8]
    private let greeting: @Sendable () -> [[UInt8]]
    private let events: WebSocketServerEvents
    /// By the address of their `lws`.
    private var clients: [UInt: Client] = [:] {
        didSet { count.count.store(clients.count, ordering: .relaxed) }
    }

    private let count: ClientCount

    init(
        maximumQueuedBytes: Int, clients count: ClientCount, headers: [(name: String, value: String)],
        greeting: @escaping @Sendable () -> [[UInt8]], events: WebSocketServerEvents
    ) {
        self.maximumQueuedBytes = maximumQueuedBytes
        headerLines = headers.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
        self.greeting = greeting
        self.count = count
        self.events = events
    }

    var isEmpty: Bool { clients.isEmpty }

    /// Not from within a callback.
    func broadcast(_ message: SharedMessage) {
        for client in Array(clients.values) where client.closeStatus == nil {
            // A message that is longer than the bound is sent all the same to a client that waits for nothing.
            if client.queuedBytes > 0, client.queuedBytes + message.count > maximumQueuedBytes {
                unsafe lws_set_timeout(client.wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC)
                continue
            }
            enqueue(message, for: client)
        }
    }

    private func enqueue(_ message: SharedMessage, for client: Client) {
        client.queue.append(message)
        client.queuedBytes += message.count
        unsafe lws_callback_on_writable(client.wsi)
    }

    func close(status: UInt16) {
        for client in clients.values where client.closeStatus == nil {
            client.closeStatus = status
            unsafe lws_callback_on_writable(client.wsi)
        }
    }

    /// Only ends the wait.
    func timerFired() {}

    /// - Returns: 0, or −1 when the connection is to end.
    func happened(
        _ reason: lws_callback_reasons, to wsi: OpaquePointer, bytes: UnsafeMutableRawPointer?, count: Int
    ) -> Int32 {
        let key = UInt(bitPattern: wsi)
        switch reason {
        case LWS_CALLBACK_ADD_HEADERS:
            if let bytes = unsafe bytes { return unsafe addHeaders(to: bytes) ? 0 : -1 }
        case LWS_CALLBACK_ESTABLISHED:
            let client = unsafe Client(wsi)
            clients[key] = client
            for message in greeting() { enqueue(SharedMessage(message), for: client) }
            events.onConnect(clients.count)
        case LWS_CALLBACK_CLOSED:
            if clients.removeValue(forKey: key) != nil { events.onDisconnect(clients.count) }
        case LWS_CALLBACK_SERVER_WRITEABLE:
            if let client = clients[key] { return write(client) ? 0 : -1 }
        case LWS_CALLBACK_RECEIVE:
            if let client = clients[key], let bytes = unsafe bytes {
                unsafe receive(UnsafeRawBufferPointer(start: bytes, count: count), client)
            }
        case LWS_CALLBACK_HTTP:
            unsafe lws_return_http_status(wsi, 426, nil)
            return -1
        default: break
        }
        return 0
    }

    /// Into libwebsockets' buffer; false when there is no room.
    private func addHeaders(to arguments: UnsafeMutableRawPointer) -> Bool {
        let arguments = unsafe arguments.assumingMemoryBound(to: lws_process_html_args.self)
        guard unsafe headerLines.count <= arguments.pointee.max_len, let place = unsafe arguments.pointee.p else {
            return false
        }
        unsafe UnsafeMutableRawPointer(place).copyMemory(from: headerLines, byteCount: headerLines.count)
        unsafe arguments.pointee.p = place + headerLines.count
        return true
    }

    /// Sends what waits, as long as the socket takes it; false when the connection is to end.
    private func write(_ client: Client) -> Bool {
        for _ in 0..<Self.mostMessagesPerTurn {
            guard client.sent < client.queue.count else {
                client.queue.removeAll(keepingCapacity: true)
                client.sent = 0
                guard let status = client.closeStatus else { return true }
                unsafe lws_close_reason(client.wsi, lws_close_status(UInt32(status)), nil, 0)
                return false
            }
            let message = client.queue[client.sent]
            client.sent += 1
            client.queuedBytes -= message.count
            if unsafe !message.write(to: client.wsi) { return false }
            if unsafe lws_partial_buffered(client.wsi) != 0 { break }
        }
        if client.sent > 1024 {
            client.queue.removeFirst(client.sent)
            client.sent = 0
        }
        unsafe lws_callback_on_writable(client.wsi)
        return true
    }

    private func receive(_ bytes: UnsafeRawBufferPointer, _ client: Client) {
        if unsafe lws_is_first_fragment(client.wsi) != 0 { client.incoming = [] }
        if client.incoming.count + bytes.count <= Self.longestIncomingBytes {
            unsafe client.incoming.append(contentsOf: bytes)
        }
        guard unsafe lws_is_final_fragment(client.wsi) != 0 else { return }
        events.onMessage(client.incoming)
        client.incoming = []
    }
}
