import Testing

@testable import AirQualityExporter

@Suite("A failed handshake")
struct HandshakeLogTests {
    @Test("is logged once a minute, with the number of those that were not")
    func once() {
        var log = HandshakeLog()
        let lines = [5, 5.1, 30, 64.9, 65, 65.1, 200].map { log.suppressed(before: .seconds($0)) }
        #expect(lines == [0, nil, nil, nil, 3, nil, 1])
    }
}
