import AirQualityIndex
import AirSources
import Bytes
import HTTPText
import System
import Testing

@testable import AirQualityFeed
@testable import HTTPClient

private let minute: Int64 = 60_000
private let hour = 60 * minute
/// Twenty past an hour.
private let start: Int64 = 495_739 * hour + 20 * minute

private let cities = ["Delhi", "Pune", "Agra"].enumerated().map { number, name in
    PolledCity(name: name, latitude: Double(number), longitude: 70)
}

/// A plan for three cities of WAQI, with one query each so that responses are short, and its results.
private struct Scenario {
    private(set) var plan: PollPlan
    var now = start
    /// The city that was asked for last, until it is answered.
    private var asked: Int?
    /// The news for the exporter, and the lines of the log.
    private(set) var news: [String] = []
    private(set) var log: [String] = []

    init(
        interval: Duration = .seconds(900), rate: CallRate = CallRate(calls: 100, per: .seconds(60)), random: Double = 0
    ) {
        plan = PollPlan(
            source: .waqi,
            api: DataSource.waqi.api(
                DataSource.Setup(
                    cities: cities, scale: .us, key: "k", maximumCost: 1,
                    document: SourceQuery(path: "/", headers: [], subject: ""))),
            cities: cities, keyOrigin: "--key-file \"k\"", rate: rate, interval: interval,
            random: { random })
    }

    var figures: PollFigures { plan.figures(at: now) }

    /// The city that is asked for now; `nil` when it is time to wait.
    mutating func ask() -> String? {
        guard case .ask(let query) = plan.next(at: now) else { return nil }
        asked = Int(query.path.split(separator: ":").last?.prefix { $0 != "." } ?? "")
        return asked.map { cities[$0].name }
    }

    /// The time until which to wait; `nil` when there is something to ask.
    mutating func wait() -> Int64? {
        guard case .wait(let time) = plan.next(at: now) else { return nil }
        return time
    }

    /// Answers the query that was asked, or the next one; returns its city.
    @discardableResult
    mutating func answer(_ status: Int = 200, _ body: String = "", headers: [String: String] = [:]) -> String? {
        take { city in
            let body = Array(body.replacing("LATITUDE", with: "\(city)").utf8)
            let headers = headers.map { HTTPField(name: $0.key, value: $0.value) }
            return .success(HTTPClientResponse(status: status, headers: headers, body: body))
        }
    }

    @discardableResult mutating func fail(_ words: String = "no connection") -> String? {
        take { _ in .failure(SystemError(.peer, words)) }
    }

    private mutating func take(_ response: (_ city: Int) -> Result<HTTPClientResponse, SystemError>) -> String? {
        guard asked != nil || ask() != nil, let city = asked else { return nil }
        asked = nil
        let report = plan.take(response(city), at: now)
        news += report.news.map { "\(cities[$0.city].name) \(Int($0.air.aqi))" }
        log += report.log
        return cities[city].name
    }

    /// Asks and answers all queries; returns their cities.
    @discardableResult mutating func answerAll(_ body: (_ city: String) -> String) -> [String] {
        var asked: [String] = []
        while let city = ask() {
            asked.append(city)
            answer(200, body(city))
        }
        return asked
    }

    /// Answers all queries with an index of the present hour.
    @discardableResult mutating func answerAll() -> [String] {
        let response = station(50, at: now)
        return answerAll { _ in response }
    }
}

/// WAQI's response with an index for the hour of a time, from a station in the city that is asked for.
private func station(_ aqi: Int, at time: Int64) -> String {
    let (hours, day) = (time / hour % 24, time / hour / 24)
    // Counted from 2026-07-21, which is the day 20,655.
    let iso = "2026-07-\(21 + day - 20_655)T\(hours < 10 ? "0" : "")\(hours):00:00Z"
    return #"{"status":"ok","data":{"aqi":\#(aqi),"city":{"geo":[LATITUDE,70]},"time":{"iso":"\#(iso)"}}}"#
}

struct PollPlanTests {
    // MARK: Timing

    @Test func `A round begins up to a tenth of the interval late, at most a minute`() {
        var scenario = Scenario(random: 0.5)
        scenario.answerAll()
        #expect(scenario.wait() == start + 10 * minute + 30_000)
        var short = Scenario(interval: .seconds(10), random: 0.5)
        short.answerAll()
        #expect(short.wait() == start + 10_500)
    }

    @Test func `A city with air of the present hour is not asked for again before the next hour`() {
        var scenario = Scenario()
        scenario.answerAll()
        scenario.now = start + 10 * minute
        #expect(scenario.wait() == start + 25 * minute)
        scenario.now = start + 25 * minute
        #expect(scenario.wait() == start + 40 * minute)
        scenario.now = start + 40 * minute
        #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
    }

    @Test func `A station without this hour's index is asked at each round, the most outdated first`() {
        var scenario = Scenario()
        #expect(scenario.answer(200, station(50, at: start - hour)) == "Delhi")
        #expect(scenario.answer(200, station(50, at: start)) == "Pune")
        #expect(scenario.answer(200, station(50, at: start - 2 * hour)) == "Agra")
        scenario.now += 10 * minute
        #expect(scenario.answerAll() == ["Agra", "Delhi"])
    }

    @Test func `A round that takes longer than the interval is completed`() {
        var scenario = Scenario(rate: CallRate(calls: 1, per: .seconds(1800)))
        var asked: [String] = []
        for _ in 0..<3 {
            asked += scenario.answerAll()
            scenario.now = scenario.wait() ?? 0
        }
        #expect(asked == ["Delhi", "Pune", "Agra"])
    }

    @Test func `No more requests are sent than the rate allows`() {
        var scenario = Scenario(rate: CallRate(calls: 2, per: .seconds(60)))
        #expect(scenario.answerAll() == ["Delhi", "Pune"])
        #expect(scenario.wait() == start + 30_000)
        scenario.now += 30_000
        #expect(scenario.answerAll() == ["Agra"])
    }

    // MARK: Failures

    @Test func `A failed query is retried after the others, and the failure and its end are logged once`() {
        var scenario = Scenario()
        #expect(scenario.fail() == "Delhi")
        #expect(scenario.fail() == "Pune")
        #expect(scenario.log == ["waqi cannot be reached (no connection); trying again"])
        #expect(scenario.answerAll() == ["Agra", "Delhi", "Pune"])
        #expect(scenario.log.dropFirst() == ["waqi responds again"])
    }

    @Test func `Each new kind of problem is logged as well`() {
        var scenario = Scenario()
        for _ in 0..<2 { scenario.answer(503, #"{"reason":"maintenance"}"#) }
        scenario.fail("30 s")
        scenario.answer(200, "<html>")
        #expect(
            scenario.log == [
                "waqi reports a server error: status 503: maintenance; trying again",
                "waqi cannot be reached (30 s); trying again",
                "waqi sent an unexpected response for Delhi: it is not JSON; trying again",
            ])
    }

    @Test func `A query that fails while the others succeed is tried only four times a round`() {
        var scenario = Scenario()
        var asked: [String] = []
        while let city = scenario.ask() {
            asked.append(city)
            if city == "Delhi" { scenario.answer(500) } else { scenario.answer(200, station(50, at: start)) }
        }
        #expect(asked == ["Delhi", "Pune", "Agra", "Delhi", "Delhi", "Delhi"])
        let lines = [
            "waqi reports a server error: status 500; trying again",
            "left out Delhi: the source gave no usable response",
        ]
        #expect(scenario.log == lines)
        #expect(scenario.figures.citiesWithAir == 2)
        scenario.now = start + 10 * minute
        #expect(scenario.answerAll() == ["Delhi"])
        #expect(scenario.log == lines + ["waqi responds again"])
        #expect(scenario.figures.citiesWithAir == 3)
    }

    @Test func `In a round that takes longer than the interval a failed query is tried twice`() {
        var scenario = Scenario(rate: CallRate(calls: 1, per: .seconds(1800)))
        var asked: [String] = []
        for _ in 0..<5 {
            while let city = scenario.ask() {
                asked.append(city)
                if city == "Delhi" { scenario.answer(500) } else { scenario.answer(200, station(50, at: start)) }
            }
            scenario.now = scenario.wait() ?? 0
        }
        #expect(asked == ["Delhi", "Pune", "Agra", "Delhi", "Delhi"])
        #expect(scenario.log.last == "left out Delhi: the source gave no usable response")
        #expect(scenario.news == ["Pune 50", "Agra 50"])
    }

    @Test func `The back-off doubles up to the interval, with full jitter`() {
        var scenario = Scenario(random: 0.5)
        var waits: [Int64] = []
        for _ in 0..<13 {
            scenario.fail()
            let wait = scenario.wait() ?? 0
            waits.append(wait - scenario.now)
            scenario.now = wait
        }
        let bounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900].map { Int64($0) * 500 }
        #expect(waits == bounds)
        scenario.answerAll()
        scenario.now = (scenario.now / hour + 1) * hour + minute
        scenario.fail()
        #expect(scenario.wait() == scenario.now + 500)
    }

    @Test func `Retry-After is obeyed, up to an hour`() {
        for (status, name, value, wait) in [
            (429, "Retry-After", "120", 120_000), (429, "retry-after", "86400", hour),
            (503, "Retry-After", "120", 120_000), (429, "x-ratelimit-reset", "30", 30_000),
            (403, "Retry-After", "120", 120_000), (404, "Retry-After", "120", 120_000),
            // Servers send this field with every response.
            (503, "x-ratelimit-reset", "30", nil),
        ] as [(Int, String, String, Int64?)] {
            var scenario = Scenario()
            scenario.answer(status, headers: [name: value])
            #expect(scenario.wait() == wait.map { start + $0 })
        }
        var scenario = Scenario(random: 0.5)
        scenario.answer(429, #"{"error":true,"reason":"Minutely API request limit exceeded."}"#)
        #expect(scenario.wait() == start + 60_000)
        #expect(
            scenario.log == [
                "waqi is rate-limiting: status 429: Minutely API request limit exceeded.; trying again"
            ])
    }

    @Test func `After the last allowed call the plan waits as long as the source says`() {
        var scenario = Scenario()
        let headers = ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "45"]
        scenario.answer(200, station(50, at: start), headers: headers)
        #expect(scenario.wait() == start + 45_000)
        #expect(scenario.log.isEmpty)
    }

    @Test func `A rejection ends the round, and the next one asks again`() {
        for (status, body, line) in [
            (401, #"{"message":"Unauthorized"}"#, "waqi rejected the request: status 401: Unauthorized"),
            (403, "", "waqi rejected the request: status 403"),
            (200, #"{"status":"error","data":"Invalid key"}"#, "waqi rejected the request: Invalid key"),
            (
                400, #"{"error":true,"reason":"The supplied API key is invalid."}"#,
                "waqi rejected the request: status 400: The supplied API key is invalid."
            ),
        ] {
            var scenario = Scenario()
            scenario.answer(status, body)
            #expect(scenario.wait() == start + 10 * minute)
            scenario.now = start + 10 * minute
            #expect(scenario.answer(status, body) == "Delhi")
            #expect(scenario.log == [line + " (the key is from --key-file \"k\"); trying again at the next interval"])
            scenario.now = start + 25 * minute
            #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
            #expect(scenario.log.last == "waqi responds again")
        }
    }

    @Test func `Dead and unknown stations are cities without air, are logged once and delay no others`() {
        var scenario = Scenario()
        scenario.answer(200, #"{"status":"ok","data":{"aqi":"-","time":{"tz":"+03:00","v":0}}}"#)
        scenario.answer(200, #"{"status":"ok","data":{"status":"error","msg":"Unknown ID"}}"#)
        scenario.answer(200, station(50, at: start))
        #expect(scenario.wait() == start + 10 * minute)
        #expect(scenario.log == ["left out Delhi: the station gives no index", "left out Pune: Unknown ID"])
        #expect(scenario.news == ["Agra 50"])
    }

    @Test func `Requests, failures and cities are counted`() {
        var scenario = Scenario()
        #expect(scenario.figures.requests == 0 && scenario.figures.failures.isEmpty)
        scenario.fail()
        scenario.answer(429)
        scenario.now += minute
        scenario.answer(404)
        scenario.answer(200, station(50, at: start))
        #expect(scenario.figures.requests == 4)
        #expect(scenario.figures.failures == [.unreachable: 1, .busy: 1, .status: 1])
        #expect(scenario.figures.citiesWithAir == 1)
        #expect(scenario.figures.newestObservation == start / hour * 3600)
        #expect(scenario.figures.callsLeft == 98)
    }

    @Test func `A redirect is logged without its query`() {
        var scenario = Scenario()
        scenario.answer(301, headers: ["Location": "https://other/feed?token=secret"])
        #expect(scenario.log == ["waqi has no data for Delhi: status 301, which redirects to https://other/feed?***"])
    }

    @Test func `A status that rejects one query does not affect the others`() {
        var scenario = Scenario()
        scenario.answer(404)
        #expect(scenario.answerAll() == ["Pune", "Agra"])
        #expect(
            scenario.log == [
                "waqi has no data for Delhi: status 404", "left out Delhi: the source gave no usable response",
            ])
        scenario.now = start + 10 * minute
        #expect(scenario.answerAll() == ["Delhi"])
    }

    // MARK: Known air

    @Test func `A station that reports 480 and then nothing is news once`() {
        var scenario = Scenario()
        for round in 0..<5 {
            let now = scenario.now
            scenario.answerAll { city in
                guard city == "Delhi" else { return station(50, at: now) }
                return station(480, at: start - hour).replacing(":480,", with: round == 0 ? ":480," : ":\"-\",")
            }
            scenario.now += hour
        }
        #expect(scenario.news.filter { $0.hasPrefix("Delhi") } == ["Delhi 480"])
        #expect(scenario.log == ["left out Delhi: the station gives no index"])
    }

    @Test func `A city without air is logged again once a day, with all that is left out`() {
        var scenario = Scenario(interval: .seconds(3600))
        for _ in 0..<30 {
            let now = scenario.now
            scenario.answerAll { city in
                let response = station(50, at: city == "Delhi" ? now - 26 * hour : now)
                return city == "Pune" ? response.replacing(":50,", with: ":\"-\",") : response
            }
            scenario.now += hour
        }
        #expect(
            scenario.log == [
                "left out Delhi: the station's time is 2026-07-20T17:00:00Z",
                "left out Pune: the station gives no index",
                "skipped or adjusted: 1 cities because the station gives no index (Pune), "
                    + "1 cities because the station's time is 2026-07-21T18:00:00Z (Delhi)",
            ])
    }

    @Test func `An observation older than the known one is not news`() {
        var scenario = Scenario()
        scenario.answer(200, station(50, at: start - hour))
        scenario.now += 10 * minute
        scenario.answerAll { station(60, at: $0 == "Delhi" ? start - 2 * hour : start) }
        #expect(scenario.news == ["Delhi 50", "Pune 60", "Agra 60"])
        // Or it would no longer be sent after three hours.
        scenario.now += 15 * minute
        scenario.answerAll { _ in station(50, at: start - hour) }
        #expect(scenario.news.dropFirst(3) == ["Delhi 50"], "the same one confirms what is known")
    }

    @Test func `After the clock is set back, no wait is longer than a whole one`() {
        var scenario = Scenario()
        scenario.answerAll()
        scenario.now = start - 5 * hour
        let wait = scenario.wait() ?? 0
        #expect(wait <= start - 5 * hour + 15 * minute)
        // Air that arrived while the clock was ahead is asked for again.
        scenario.now = wait + minute
        #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
        var paused = Scenario()
        paused.answer(429, headers: ["Retry-After": "3600"])
        paused.now = start - 5 * hour
        #expect(paused.wait() == start - 4 * hour)
        var failed = Scenario()
        failed.answer(500)
        failed.now = start - 5 * hour
        #expect(failed.wait() ?? 0 <= start - 5 * hour + 1000)
    }
}
