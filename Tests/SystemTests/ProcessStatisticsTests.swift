import Glibc
import TestSupport
import Testing

@testable import System

struct ProcessStatisticsTests {
    private static let rest =
        " R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0 174950 3133440 409 18446744073709551615 1 1 1 0\n"

    private func statistics(stat: String = "", memory: String = "", network: String = "") -> ProcessStatistics {
        ProcessStatistics(stat: Array(stat.utf8), memory: Array(memory.utf8), network: Array(network.utf8))
    }

    @Test(arguments: ["16573 (cat)", "1 (a) b) (c d)", "1 () R 1 2 3)", "1 (a\nb)"])
    func `The fields of stat are read behind any name`(name: String) {
        let statistics = statistics(stat: name + Self.rest)
        #expect(statistics.cpuSeconds == 12 / Double(sysconf(Int32(_SC_CLK_TCK))))
        #expect(statistics.threads == 3)
        #expect(statistics.startTime != nil)
        #expect(statistics.virtualMemoryBytes == 3_133_440)
    }

    @Test(arguments: ["", "1 cat R 1 2 3", "16573 (cat) R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0"])
    func `A line that is no stat has no value`(text: String) {
        #expect(statistics(stat: text) == statistics())
    }

    @Test(
        arguments: [
            ("765 445 417 5 0 123 0\n", [445, 28]), ("765 445 417\n", [445, 28]), ("765 445\n", nil), ("", nil),
            ("a b c d", nil),
        ] as [(String, [UInt64]?)])
    func `The pages of statm are bytes in memory and on the heap`(text: String, pages: [UInt64]?) {
        let statistics = statistics(memory: text)
        let pageBytes = UInt64(sysconf(Int32(_SC_PAGESIZE)))
        #expect(statistics.residentMemoryBytes == pages.map { $0[0] * pageBytes })
        #expect(statistics.heapBytes == pages.map { $0[1] * pageBytes })
    }

    @Test(
        arguments: [
            (
                "TcpExt: SyncookiesSent InOctets\nTcpExt: 1 2\n"
                    + "IpExt: InNoRoutes InOctets OutOctets InMcastOctets\nIpExt: 0 418321512 372518 0\n"
                    + "MPTcpExt: A\nMPTcpExt: 5\n",
                [418_321_512, 372_518]
            ),
            ("IpExt: OutOctets InOctets\nIpExt: 1 2\n", [2, 1]),
            ("IpExt: InOctets OutOctets\n", [nil, nil]),
            ("IpExt: InOctets OutOctets\nIpExt: 1\n", [1, nil]),
            ("", [nil, nil]),
        ] as [(String, [UInt64?])])
    func `The octets of netstat are found by their names`(text: String, octets: [UInt64?]) {
        let statistics = statistics(network: text)
        #expect([statistics.networkReceiveBytes, statistics.networkTransmitBytes] == octets)
    }

    @Test func `The running process has every value`() throws {
        let statistics = ProcessStatistics.current()
        #expect(try #require(statistics.cpuSeconds) >= 0)
        #expect(try #require(statistics.threads) >= 1)
        let age = try Double(currentTime()) / 1000 - #require(statistics.startTime)
        #expect((-1...86_400).contains(age), "started \(age) s ago")
        let resident = try #require(statistics.residentMemoryBytes)
        #expect(try #require(statistics.virtualMemoryBytes) > resident)
        #expect(try resident >= #require(statistics.heapBytes))
        #expect(try #require(statistics.openFileDescriptors) >= 3)
        #expect(try #require(statistics.maximumFileDescriptors) >= 3)
        #expect(statistics.maximumVirtualMemoryBytes != nil)
        #expect(statistics.networkReceiveBytes != nil)
        #expect(statistics.networkTransmitBytes != nil)
    }
}
