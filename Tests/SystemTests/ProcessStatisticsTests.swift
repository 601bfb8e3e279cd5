import Glibc
import Testing

@testable import System

struct ProcessStatisticsTests {
    private static let rest =
        " R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0 174950 3133440 409 18446744073709551615 1 1 1 0\n"

    private func statistics(stat: String = "", memory: String = "", network: String = "") -> ProcessStatistics {
        ProcessStatistics(stat: Array(stat.utf8), memory: Array(memory.utf8), network: Array(network.utf8))
    }

    @Test(arguments: ["16573 (cat)", "1 (a) b) (c d)", "1 () R 1 2 3)", "1 (a\nb)"])
    func `The fields of stat are read after any process name`(name: String) {
        let statistics = statistics(stat: name + Self.rest)
        #expect(statistics.values["process_cpu_seconds_total"] == 12 / Double(sysconf(Int32(_SC_CLK_TCK))))
        #expect(statistics.values["process_threads"] == 3)
        #expect(statistics.values["process_start_time_seconds"] != nil)
        #expect(statistics.values["process_virtual_memory_bytes"] == 3_133_440)
    }

    @Test(arguments: ["", "1 cat R 1 2 3", "16573 (cat) R 16530 16530 9212 0 -1 4194304 98 0 0 0 7 5 0 0 20 0 3 0"])
    func `A malformed stat line yields no values`(text: String) {
        #expect(statistics(stat: text) == statistics())
    }

    @Test(
        arguments: [
            ("765 445 417 5 0 123 0\n", [445, 28]), ("765 445 417\n", [445, 28]), ("765 445\n", nil), ("", nil),
            ("a b c d", nil),
        ] as [(String, [Double]?)])
    func `The pages in statm become bytes of resident memory and of the heap`(text: String, pages: [Double]?) {
        let values = statistics(memory: text).values
        let pageBytes = Double(sysconf(Int32(_SC_PAGESIZE)))
        #expect(values["process_resident_memory_bytes"] == pages.map { $0[0] * pageBytes })
        #expect(values["process_heap_bytes"] == pages.map { $0[1] * pageBytes })
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
        ] as [(String, [Double?])])
    func `The octets in netstat are found by name`(text: String, octets: [Double?]) {
        let values = statistics(network: text).values
        let names = ["process_network_receive_bytes_total", "process_network_transmit_bytes_total"]
        #expect(names.map { values[$0] } == octets)
    }

    @Test func `The running process has a value for every statistic`() throws {
        let values = ProcessStatistics.current().values
        func value(_ name: String) throws -> Double { try #require(values["process_\(name)"]) }
        #expect(try value("cpu_seconds_total") >= 0)
        #expect(try value("threads") >= 1)
        let age = try Double(currentTime()) / 1000 - value("start_time_seconds")
        #expect((-1...86_400).contains(age), "started \(age) s ago")
        let resident = try value("resident_memory_bytes")
        #expect(try value("virtual_memory_bytes") > resident)
        #expect(try resident >= value("heap_bytes"))
        #expect(try value("open_fds") >= 3)
        #expect(try value("max_fds") >= 3)
        #expect(try value("virtual_memory_max_bytes") > 0)
        #expect(try value("network_receive_bytes_total") >= 0)
        #expect(try value("network_transmit_bytes_total") >= 0)
    }
}
