import AirQuality
import HTTPServer
import Synchronization
import System

/// Makes large history documents while they are sent, on a thread of its own, so that the server's thread has time for
/// scrapes. There is a thread while there is work.
final class HistoryDownloads: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        /// Those that need more pieces, each once.
        var waiting: [HistoryDownload] = []
        var isWorking = false
    }

    func begin(_ pieces: HistoryPieces, isGzip: Bool) -> HTTPStream {
        HistoryDownload(pieces, isGzip: isGzip, onNeed: submit).stream
    }

    @Sendable private func submit(_ download: HistoryDownload) {
        let needsThread = state.withLock { state in
            state.waiting.append(download)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard needsThread else { return }
        do {
            _ = try ServiceThread(name: "history", body: work)
        } catch {
            // No thread could be started: work on this one. The download continues, but delays other requests.
            work()
        }
    }

    @Sendable private func work() {
        while let download = next() {
            guard download.makePiece() else { continue }
            // Behind the others.
            state.withLock { $0.waiting.append(download) }
        }
    }

    private func next() -> HistoryDownload? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// A document on its way to one client.
private final class HistoryDownload: Sendable {
    private let onNeed: @Sendable (HistoryDownload) -> Void
    /// For the one thread that makes pieces.
    private let source: Mutex<Source>
    private let state = Mutex(State())

    private struct Source: ~Copyable {
        var pieces: HistoryPieces
        /// Nil: sent as it is.
        var gzip: GzipStream?
    }

    private struct State {
        /// Made and not sent.
        var pieces: [ArraySlice<UInt8>] = []
        /// The last piece is made, or nobody wants it.
        var isOver = false
        /// More pieces are asked for.
        var isWaiting = false
        /// Kept by the connection.
        weak var stream: HTTPStream?
    }

    private static let pieceBytes = 64 * 1024
    private static let maximumPieces = 4

    init(_ pieces: HistoryPieces, isGzip: Bool, onNeed: @escaping @Sendable (HistoryDownload) -> Void) {
        self.onNeed = onNeed
        source = Mutex(Source(pieces: pieces, gzip: isGzip ? GzipStream() : nil))
    }

    /// To be asked for once.
    var stream: HTTPStream {
        let stream = HTTPStream(
            isDocument: true, read: { [self] in read(maximum: $0) },
            onEnd: { [self] in
                state.withLock { state in
                    state.isOver = true
                    state.pieces = []
                }
            })
        state.withLock { $0.stream = stream }
        return stream
    }

    /// On the server's thread.
    private func read(maximum: Int) -> HTTPStream.Content {
        let (content, needsMore) = state.withLock { state -> (HTTPStream.Content, Bool) in
            var content = state.isOver ? HTTPStream.Content.end : .none
            if !state.pieces.isEmpty {
                content = .bytes(state.pieces[0].prefix(maximum))
                state.pieces[0] = state.pieces[0].dropFirst(maximum)
                if state.pieces[0].isEmpty { state.pieces.removeFirst() }
            }
            let needsMore = !state.isOver && !state.isWaiting && state.pieces.count <= Self.maximumPieces / 2
            if needsMore { state.isWaiting = true }
            return (content, needsMore)
        }
        if needsMore { onNeed(self) }
        return content
    }

    /// - Returns: whether to make another one.
    func makePiece() -> Bool {
        guard !state.withLock({ $0.isOver }) else { return false }
        let (piece, isLast) = source.withLock { source -> ([UInt8], Bool) in
            guard let piece = source.pieces.next(bytes: Self.pieceBytes) else { return (source.gzip?.end ?? [], true) }
            return (source.gzip?.next(piece.span) ?? piece, false)
        }
        let (stream, needsMore) = state.withLock { state -> (HTTPStream?, Bool) in
            if !state.isOver, !piece.isEmpty { state.pieces.append(piece[...]) }
            if isLast { state.isOver = true }
            state.isWaiting = !state.isOver && state.pieces.count < Self.maximumPieces
            return (state.stream, state.isWaiting)
        }
        stream?.wake()
        return needsMore
    }
}
