import HTTPServer

/// A page for one version of the store, plain or compressed.
struct RenderedPage: Sendable {
    private enum Content: Sendable {
        case plain([UInt8])
        case gzip(Gzip)
    }

    let version: UInt64
    /// Bytes of the page as text: the room that the next one will take.
    let textCount: Int
    private let content: Content

    /// - Parameter isGzip: whether the page is kept in compressed form; the text is then not kept.
    init(version: UInt64, text: [UInt8], isGzip: Bool) {
        self.version = version
        textCount = text.count
        content = isGzip ? .gzip(Gzip(text)) : .plain(text)
    }

    /// The page with what comes after it, in pieces.
    func pieces(endingWith end: [UInt8]) -> [[UInt8]] {
        switch content {
        case .plain(let text): [text, end]
        case .gzip(let gzip): gzip.member(endingWith: end)
        }
    }
}
