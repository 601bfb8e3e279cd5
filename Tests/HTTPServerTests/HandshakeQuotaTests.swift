import Testing

@testable import HTTPServer

@Suite("The quota of handshakes") struct HandshakeQuotaTests {
    private let quota = HandshakeQuota()
    private let client: [UInt8] = [127, 0, 0, 2]

    @Test("is closed while a client has had more than its share of time, and nobody else") func share() {
        #expect(quota.isOpen(client, now: 0))
        quota.charge(client, nanoseconds: 20_000_000, now: 0)
        #expect(quota.isOpen(client, now: 0))
        quota.charge(client, nanoseconds: 10_000_000, now: 0)
        #expect(!quota.isOpen(client, now: 0))
        #expect(quota.isOpen([127, 0, 0, 1], now: 0))
        // Ten milliseconds too many, at a quarter of the time.
        #expect(!quota.isOpen(client, now: 39_000_000))
        #expect(quota.isOpen(client, now: 40_000_000))
    }

    @Test("gives a client a quarter of the time, however long each takes", arguments: [200_000, 7_000_000] as [Int64])
    func rate(_ cost: Int64) {
        var taken: Int64 = 0
        for now: Int64 in stride(from: 0, to: 1_000_000_000, by: 1_000_000) where quota.isOpen(client, now: now) {
            quota.charge(client, nanoseconds: cost, now: now)
            taken += cost
        }
        #expect((150_000_000...280_000_000).contains(taken))
    }

    @Test("lets so many wait, and one more when one of them has ended") func waiting() {
        for _ in 0..<HandshakeQuota.maximumWaiting { #expect(quota.wait(client)) }
        #expect(!quota.wait(client))
        #expect(quota.wait([127, 0, 0, 1]))
        quota.endWait(client)
        #expect(quota.wait(client))
    }

    @Test("forgets clients that owe nothing") func forgetting() {
        #expect(quota.wait(client))
        for number in 0..<5000 {
            quota.charge([UInt8(number & 255), UInt8(number >> 8)], nanoseconds: 1, now: Int64(number) * 1000)
        }
        #expect(quota.count <= 1026)
        for _ in 1..<HandshakeQuota.maximumWaiting { #expect(quota.wait(client)) }
        #expect(!quota.wait(client))
    }
}
