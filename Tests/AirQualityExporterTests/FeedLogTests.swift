import HTTPText
import System
import TestSupport
import Testing
import WebSocket

@testable import AirQuality
@testable import AirQualityExporter

struct FeedLogTests {
    private let lines = WrittenLines()

    private func log(level: Logger.Level = .debug) -> FeedLog {
        FeedLog(label: "ws://x/", logger: Logger(level: level, now: { 0 }, write: lines.append))
    }

    /// The logged lines, without the time.
    private var logged: [String] {
        lines.text.replacing("time=1970-01-01T00:00:00.000Z ", with: "").split(separator: "\n").map { String($0) }
    }

    @Test func `A feed is logged when its state changes, not at every attempt`() {
        var log = log()
        func level(_ event: WebSocketEvent) -> String {
            log.note(event, at: .zero)
            return String(logged.last?.prefix { $0 != "\"" } ?? "") + (logged.last?.split(separator: "\"")[1] ?? "")
        }
        func lost(_ reason: DisconnectReason) -> WebSocketEvent { .disconnected(reason, detail: "detail") }
        #expect(level(.connecting) == "level=INFO msg=Connecting to feed")
        #expect(level(lost(.refused)) == "level=WARN msg=Feed unreachable, retrying")
        #expect(level(lost(.refused)) == "level=DEBUG msg=Feed unreachable, retrying")
        #expect(level(.connecting) == "level=DEBUG msg=Connecting to feed", "only the first attempt")
        #expect(level(lost(.timeout)) == "level=WARN msg=Feed unreachable, retrying")
        #expect(level(.connected([])) == "level=INFO msg=Feed connected")
        #expect(level(lost(.lost)) == "level=WARN msg=Feed lost, reconnecting")
        #expect(level(lost(.lost)) == "level=DEBUG msg=Feed unreachable, retrying")
        #expect(level(.connected([])) == "level=INFO msg=Feed connected")
        #expect(level(lost(.paused)) == "level=INFO msg=Feed disconnected")
        #expect(level(.paused) == "level=INFO msg=Feed paused: no scrapes")
        #expect(level(.resumed) == "level=INFO msg=Feed resumed")
        #expect(level(.connected([])) == "level=INFO msg=Feed connected")
        #expect(level(lost(.requested)) == "level=INFO msg=Feed disconnected")
        #expect(level(.connected([])) == "level=INFO msg=Feed connected", "the end of a reconnect")
        #expect(level(lost(.requested)) == "level=INFO msg=Feed disconnected")
        #expect(level(lost(.handshake)) == "level=WARN msg=Feed unreachable, retrying")
    }

    @Test func `A feed that is down is logged each quarter of an hour, and for how long when it is back`() {
        var log = log(level: .info)
        for second in stride(from: 0, through: 2700, by: 20) {
            log.note(.connecting, at: .seconds(second))
            log.note(.disconnected(.refused, detail: "detail"), at: .seconds(second))
        }
        log.note(.connecting, at: .seconds(2710))
        log.note(.connected([]), at: .seconds(2710))
        let down = "level=WARN msg=\"Feed unreachable, retrying\" feed=ws://x/ reason=refused err=detail"
        #expect(
            logged == [
                "level=INFO msg=\"Connecting to feed\" feed=ws://x/", down, down + " down_for=15m attempts=46",
                down + " down_for=30m attempts=91", down + " down_for=45m attempts=136",
                "level=INFO msg=\"Feed connected\" feed=ws://x/ down_for=45m10s attempts=137",
            ])
    }

    @Test(arguments: [2, 60, 300])
    func `A flapping feed is logged at first, and then at most four times an hour`(_ period: Int) {
        var log = log(level: .info)
        var loggedAt: [Int] = []
        for second in stride(from: 0, to: 6 * 3600, by: period) {
            let count = logged.count
            log.note(.connected([]), at: .seconds(second))
            log.note(.disconnected(.lost, detail: "x"), at: .seconds(second + period - 1))
            loggedAt += Array(repeating: second, count: logged.count - count)
        }
        for hour in 1..<6 { #expect(loggedAt.count { $0 / 3600 == hour } <= 8) }
        for quarter in 1..<24 {
            #expect(loggedAt.contains { $0 / 900 == quarter }, "the quarter \(quarter) has a line")
        }
        log.note(.connected([]), at: .seconds(30_000))
        log.noteMessage(at: .seconds(30_059))
        log.noteMessage(at: .seconds(30_060))
        log.noteMessage(at: .seconds(30_061))
        #expect(logged.last?.contains("msg=\"Feed connected\"") == true)
    }

    @Test func `The server's last words stand with the loss of the connection`() {
        var log = log()
        log.note(.connected([]), at: .zero)
        log.note(.disconnected(.closed, detail: "status 1000"), serverWords: "Invalid access token", at: .seconds(1))
        #expect(logged.last?.hasSuffix(#"err="status 1000" server_message="Invalid access token""#) == true)
    }

    @Test func `A feed that names its source is logged with it when it connects`() {
        var log = log()
        let fields = [HTTPField(name: "air-quality-source", value: "open-meteo; kind=model")]
        log.note(.connected(fields), at: .zero)
        log.note(.connected([]), at: .seconds(3600))
        let line = "level=INFO msg=\"Feed connected\" feed=ws://x/"
        #expect(logged == [line + " source=open-meteo", line])
    }
}
