/// An array in chunks, so that changing an element while a reader holds a snapshot copies one chunk and not the array.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var chunkBits: Int { 8 }
    private static var chunkCount: Int { 1 << chunkBits }

    private(set) var chunks: [[Element]] = []
    private(set) var count = 0

    @inline(__always)
    subscript(index: Int) -> Element {
        _read { yield chunks[index &>> Self.chunkBits][index & (Self.chunkCount &- 1)] }
        _modify { yield &chunks[index &>> Self.chunkBits][index & (Self.chunkCount &- 1)] }
    }

    @inline(__always)
    func chunk(of index: Int) -> Int { index &>> Self.chunkBits }

    @inline(__always)
    func index(_ index: Int, inChunk chunk: Int) -> Int { chunk &<< Self.chunkBits | index }

    mutating func append(_ element: Element) {
        if count & (Self.chunkCount - 1) == 0 {
            var chunk: [Element] = []
            // The first one grows: most exporters have few cities.
            if count > 0 { chunk.reserveCapacity(Self.chunkCount) }
            chunks.append(chunk)
        }
        chunks[count >> Self.chunkBits].append(element)
        count += 1
    }
}
