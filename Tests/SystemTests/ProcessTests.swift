import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct ProcessStatisticsTests {
    private static let rest =
        " R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0 174950 3133440 409 18446744073709551615 1 1 1 0\n"

    @Test(
        "the fields of /proc/self/stat behind a name",
        arguments: ["16573 (cat)", "1 (a) b) (c d)", "1 () R 1 2 3)", "1 (a\nb)"])
    func stat(name: String) {
        let stat = ProcessStat(Array((name + Self.rest).utf8))
        #expect(
            stat.map { [$0.cpuTicks, UInt64($0.threads), $0.startTicks, $0.virtualMemoryBytes] }
                == [12, 3, 174_950, 3_133_440])
    }

    @Test(
        "what is not such a line",
        arguments: [
            "", "1 cat R 1 2 3", "16573 (cat) R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0",
            "16573 (cat)" + rest.replacing("174950", with: "17x"),
            "16573 (cat)" + rest.replacing("174950", with: "18446744073709551616"),
        ])
    func noStat(text: String) { #expect(ProcessStat(Array(text.utf8)) == nil) }

    @Test(
        "the fields of /proc/self/statm",
        arguments: [
            ("765 445 417 5 0 123 0\n", [445, 417]), ("765 445 417\n", [445, 417]), ("765 445\n", nil), ("", nil),
            ("a b c d", nil),
        ] as [(String, [UInt64]?)])
    func memory(text: String, expected: [UInt64]?) {
        #expect(ProcessMemoryPages(Array(text.utf8)).map { [$0.resident, $0.shared] } == expected)
    }

    @Test(
        "the octets of /proc/self/net/netstat",
        arguments: [
            (
                "TcpExt: SyncookiesSent InOctets\nTcpExt: 1 2\n"
                    + "IpExt: InNoRoutes InOctets OutOctets InMcastOctets\nIpExt: 0 418321512 372518 0\n"
                    + "MPTcpExt: A\nMPTcpExt: 5\n",
                [418_321_512, 372_518]
            ),
            ("IpExt: OutOctets InOctets\nIpExt: 1 2\n", [2, 1]),
            ("IpExt: InOctets OutOctets\n", nil),
            ("IpExt: InOctets OutOctets\nIpExt: 1\n", nil),
            ("IpExt: InOctets\nIpExt: 1\n", nil),
            ("", nil),
        ] as [(String, [UInt64]?)])
    func network(text: String, expected: [UInt64]?) {
        #expect(NetworkOctets(Array(text.utf8)).map { [$0.received, $0.sent] } == expected)
    }

    @Test("the running process has every value") func current() throws {
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

    @Test("a directory's entries are counted") func entries() throws {
        let directory = TemporaryDirectory()
        #expect(countEntries(of: directory.path) == 0)
        directory.write("a", "")
        directory.write("b", "")
        #expect(countEntries(of: directory.path) == 2)
        #expect(countEntries(of: directory.path + "/none") == nil)
    }
}
