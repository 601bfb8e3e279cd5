internal import Synchronization
public import System

/// Content of a response that is made while it is sent, in pieces, on a work queue. The connection sleeps while there is
/// nothing to send. At most two pieces are in memory, so a slow client costs little.
///
/// - Events have no end. A client that takes nothing for `HTTPLimits.streamTimeout` is disconnected; SIGTERM ends all such
///   streams at once.
/// - A document has an end: it is a response like any other, but of unknown length. One that cannot be sent to its end is
///   broken off, so that its client notices.
public final class HTTPStream: HTTPContent {
    public enum Content: Sendable {
        /// At least one.
        case bytes([UInt8])
        /// Nothing now: ask again after the next `wake()`.
        case none
        case end
    }

    let isEndless: Bool
    private let queue: WorkQueue
    private let next: @Sendable () -> Content
    private let onEnd: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        /// nil before the response is queued, and once the connection is done with it. Suspended, it stays until it is
        /// resumed: `HTTPConnections` has all of them resumed before the daemon stops.
        var connection: HTTPConnection?
        var isSuspended = false
        var began = Duration.zero
        var limits = HTTPLimits()
        /// Not sent yet.
        var piece: ArraySlice<UInt8> = []
        var following: [UInt8]?
        /// The queue has been given work.
        var isMaking = false
        /// There may be more since the last time that `next` was asked.
        var isAwake = true
        /// `next` has nothing more.
        var isComplete = false
        /// Nothing more is sent, whatever there is.
        var isEnded = false
    }

    /// - Parameters:
    ///   - isEndless: events; false: a document.
    ///   - queue: where `next` is called, one call at a time.
    ///   - onEnd: called once when no more will be asked for, on the serving thread; never when the stream was refused.
    public init(
        isEndless: Bool, queue: WorkQueue, next: @escaping @Sendable () -> Content,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.isEndless = isEndless
        self.queue = queue
        self.next = next
        self.onEnd = onEnd
    }

    /// There is more; any thread.
    public func wake() {
        let client = state.withLock { state -> [UInt8]? in
            state.isAwake = true
            return needsPiece(&state) ? state.connection?.peer.client : nil
        }
        if let client { makePiece(for: client) }
    }

    /// Ends the response as soon as its client has taken what was sent; any thread.
    public func end() {
        state.withLock { state in
            state.isEnded = true
            resume(&state)
        }
    }

    private func resume(_ state: inout State) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        connection.handle.resume()
    }

    // MARK: What the queue does

    /// Whether to give the queue work, which the caller then does. A piece ahead is made of documents only: a slow client's
    /// next event is in memory anyway, or it has missed it.
    private func needsPiece(_ state: inout State) -> Bool {
        guard state.connection != nil, state.isAwake, !state.isMaking, !state.isComplete, !state.isEnded,
            state.following == nil, state.piece.isEmpty || !isEndless
        else { return false }
        state.isMaking = true
        return true
    }

    private func makePiece(for client: [UInt8]) {
        // Always accepted: there are only so many streams, and each has one piece to make at a time.
        _ = queue.submit(for: client, isContinuation: true) { [self] in
            let isWanted = state.withLock { state in
                state.isAwake = false
                return state.connection != nil && !state.isEnded
            }
            let content = isWanted ? next() : .none
            let isNeeded = state.withLock { state in
                state.isMaking = false
                switch content {
                case .bytes(let bytes):
                    state.following = bytes
                    state.isAwake = true
                    resume(&state)
                case .none: break
                case .end:
                    state.isComplete = true
                    resume(&state)
                }
                return needsPiece(&state)
            }
            if isNeeded { makePiece(for: client) }
        }
    }

    // MARK: What libmicrohttpd's callbacks call

    func begin(on connection: HTTPConnection, _ limits: HTTPLimits) {
        state.withLock { state in
            state.connection = connection
            state.began = monotonicTime()
            state.limits = limits
        }
    }

    /// The block is for HTTP/1.0, which knows no chunks.
    var blockBytes: Int { isEndless ? 1024 : 64 * 1024 }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (count, client) = state.withLock { state -> (Int, [UInt8]?) in
            guard !state.isEnded else { return (isEndless ? endOfContent : endWithError, nil) }
            if state.piece.isEmpty, let following = state.following.take() { state.piece = following[...] }
            let bytes = state.piece.prefix(buffer.count)
            unsafe buffer.copyBytes(from: bytes)
            state.piece = state.piece.dropFirst(bytes.count)
            if state.piece.isEmpty { state.piece = [] }
            let client = needsPiece(&state) ? state.connection?.peer.client : nil
            if !bytes.isEmpty {
                setDeadline(&state, sending: bytes.count)
                return (bytes.count, client)
            }
            if state.isComplete { return (endOfContent, nil) }
            suspend(&state)
            return (0, client)
        }
        if let client { makePiece(for: client) }
        return count
    }

    /// Corresponds to `MHD_suspend_connection`, which may be called from the content reader.
    private func suspend(_ state: inout State) {
        guard let connection = state.connection else { return }
        state.isSuspended = true
        // No deadline while no event is pending.
        if isEndless { connection.setDeadline(nil) }
        connection.handle.suspend()
    }

    /// When the client must have taken the newest event, or what it has been sent of a document.
    private func setDeadline(_ state: inout State, sending count: Int) {
        guard let connection = state.connection else { return }
        connection.sentBytes += count
        let limits = state.limits
        connection.setDeadline(
            isEndless
                ? monotonicTime() + limits.streamTimeout
                : state.began + limits.responseTimeout + .seconds(connection.sentBytes) / limits.minimumRate)
    }

    func finish() {
        state.withLock { $0 = State(isEnded: true) }
        onEnd()
    }
}
