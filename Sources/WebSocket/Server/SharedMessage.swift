internal import CLibWebSockets

/// One message for all clients of a server, in one piece of memory, with the room before it that `lws_write` needs.
///
/// @unchecked: the bytes are written by `init` and by `lws_write`, which puts the same frame header before them for each
/// client, and which only the server's thread calls.
@safe final class SharedMessage: @unchecked Sendable {
    let count: Int
    private let memory: UnsafeMutableBufferPointer<UInt8>

    init(_ message: [UInt8]) {
        let padding = Int(CLibWebSockets_PRE)
        count = message.count
        unsafe memory = .allocate(capacity: padding + message.count)
        unsafe memory.initialize(repeating: 0)
        _ = unsafe memory.suffix(from: padding).update(from: message)
    }

    /// Sends it as one frame; false when the connection is to end.
    func write(to wsi: OpaquePointer) -> Bool {
        // What the socket does not take is copied by libwebsockets, and sent before anything else.
        unsafe lws_write(wsi, memory.baseAddress! + Int(CLibWebSockets_PRE), count, LWS_WRITE_TEXT) >= 0
    }

    deinit {
        unsafe memory.deallocate()
    }
}
