import AirQualityIndex
import AirSources
import Bytes
import HTTPText
import Synchronization
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

/// A plan for three cities of WAQI, one query each, so that answers are short; and what becomes of it.
private struct Scenario {
    private(set) var plan: PollPlan
    var now = start
    /// Latitude of the city that was asked for last.
    private var latitude = ""
    /// What was sent to the exporter's side, and said.
    private(set) var news: [String] = []
    private(set) var log: [String] = []

    init(
        interval: Duration = .seconds(900), rate: CallRate = CallRate(calls: 100, per: .seconds(60)), random: Double = 0
    ) {
        plan = PollPlan(
            source: .waqi,
            api: SourceName.waqi.source(
                cities: cities, scale: .us, key: "k", maximumCost: 1,
                document: SourceQuery(path: "/", headers: [], subject: "")),
            cities: cities, keyOrigin: "--key-file \"k\"", rate: rate, interval: interval,
            random: { random })
    }

    var figures: PollFigures { plan.figures(at: now) }

    /// The city that is asked for now; `nil` when it is time to wait, and then until when.
    mutating func ask() -> (city: String?, wait: Int64?) {
        switch plan.next(at: now) {
        case .wait(let time): return (nil, time)
        case .ask(let query):
            latitude = String(query.path.split(separator: ":").last?.prefix { $0 != "." } ?? "")
            return (Int(latitude).map { cities[$0].name }, nil)
        }
    }

    mutating func answer(_ status: Int = 200, _ body: String = "", headers: [HTTPField] = []) {
        let body = Array(body.replacing("LATITUDE", with: latitude).utf8)
        note(plan.take(.success(HTTPClientResponse(status: status, headers: headers, body: body)), at: now))
    }

    mutating func fail(_ words: String = "no connection") {
        note(plan.take(.failure(SystemError(.peer, words)), at: now))
    }

    private mutating func note(_ report: PollPlan.Report) {
        news += report.news.map { "\(cities[$0.city].name) \(Int($0.air.index))" }
        log += report.log
    }

    /// Asks and answers all with an index of the present hour; what was asked for.
    mutating func answerAll(index: Int = 50) -> [String] {
        var asked: [String] = []
        while let city = ask().city {
            asked.append(city)
            answer(200, station(index, at: now))
        }
        return asked
    }
}

/// WAQI's answer with an index of the hour of a time, of a station at the city that is asked for.
private func station(_ index: Int, at time: Int64) -> String {
    let (hours, day) = (time / hour % 24, time / hour / 24)
    // Counted from 2026-07-21, which is the day 20,655.
    let iso = "2026-07-\(21 + day - 20_655)T\(hours < 10 ? "0" : "")\(hours):00:00Z"
    return #"{"status":"ok","data":{"aqi":\#(index),"city":{"geo":[LATITUDE,70]},"time":{"iso":"\#(iso)"}}}"#
}

struct PollPlanTests {
    // MARK: When

    @Test func `The first round begins at once, the next ones at multiples of the interval`() {
        var scenario = Scenario()
        #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
        #expect(scenario.news == ["Delhi 50", "Pune 50", "Agra 50"])
        #expect(scenario.ask().wait == start + 10 * minute)
    }

    @Test func `A round begins up to a tenth of the interval late, a minute at most`() {
        var scenario = Scenario(random: 0.5)
        _ = scenario.answerAll()
        #expect(scenario.ask().wait == start + 10 * minute + 30_000)
        var short = Scenario(interval: .seconds(10), random: 0.5)
        _ = short.answerAll()
        #expect(short.ask().wait == start + 10_500)
    }

    @Test func `A city whose newest hour is the present one is not asked for again before the next hour`() {
        var scenario = Scenario()
        _ = scenario.answerAll()
        scenario.now = start + 10 * minute
        #expect(scenario.ask().wait == start + 25 * minute)
        scenario.now = start + 25 * minute
        #expect(scenario.ask().wait == start + 40 * minute)
        scenario.now = start + 40 * minute
        #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
    }

    @Test func `A station that has not said this hour's index is asked at each round, the longest unheard of first`() {
        var scenario = Scenario()
        #expect(scenario.ask().city == "Delhi")
        scenario.answer(200, station(50, at: start - hour))
        #expect(scenario.ask().city == "Pune")
        scenario.answer(200, station(50, at: start))
        #expect(scenario.ask().city == "Agra")
        scenario.answer(200, station(50, at: start - 2 * hour))
        scenario.now += 10 * minute
        #expect(scenario.answerAll() == ["Agra", "Delhi"])
    }

    @Test func `A round that takes longer than the interval comes to its end`() {
        var scenario = Scenario(rate: CallRate(calls: 1, per: .seconds(1800)))
        var asked: [String] = []
        for _ in 0..<6 {
            let (city, wait) = scenario.ask()
            if let city {
                asked.append(city)
                scenario.answer(200, station(50, at: scenario.now))
            }
            if let wait { scenario.now = wait }
        }
        #expect(asked == ["Delhi", "Pune", "Agra"])
    }

    @Test func `No more requests are sent than the rate allows`() {
        var scenario = Scenario(rate: CallRate(calls: 2, per: .seconds(60)))
        #expect(scenario.answerAll() == ["Delhi", "Pune"])
        #expect(scenario.ask().wait == start + 30_000)
        scenario.now += 30_000
        #expect(scenario.answerAll() == ["Agra"])
    }

    // MARK: What fails

    @Test func `What fails is tried again after the others, said once, and said again when it is over`() {
        var scenario = Scenario()
        #expect(scenario.ask().city == "Delhi")
        scenario.fail()
        #expect(scenario.ask().city == "Pune")
        scenario.fail()
        #expect(scenario.log == ["waqi cannot be reached (no connection); trying again"])
        #expect(scenario.answerAll() == ["Agra", "Delhi", "Pune"])
        #expect(scenario.log.dropFirst() == ["waqi responds again"])
    }

    @Test func `Another kind of problem is said as well`() {
        var scenario = Scenario()
        for _ in 0..<2 {
            _ = scenario.ask()
            scenario.answer(503, #"{"reason":"maintenance"}"#)
        }
        _ = scenario.ask()
        scenario.fail("30 s")
        _ = scenario.ask()
        scenario.answer(200, "<html>")
        #expect(
            scenario.log == [
                "waqi reports a server error: status 503: maintenance; trying again",
                "waqi cannot be reached (30 s); trying again",
                "waqi sends a response that is not as documented, for Delhi: it is no JSON; trying again",
            ])
    }

    @Test func `What a source says in place of what was asked for stands in the line`() {
        var scenario = Scenario()
        _ = scenario.ask()
        scenario.answer(200, #"{"message":"Limit Exceeded"}"#)
        #expect(
            scenario.log == [
                "waqi sends a response that is not as documented, for Delhi: data is missing; it says "
                    + #""Limit Exceeded"; trying again"#
            ])
    }

    @Test func `One query that fails while the others succeed is left alone after four times, until the next round`() {
        var scenario = Scenario()
        var asked: [String] = []
        while let city = scenario.ask().city {
            asked.append(city)
            if city == "Delhi" { scenario.answer(500) } else { scenario.answer(200, station(50, at: start)) }
        }
        #expect(asked == ["Delhi", "Pune", "Agra", "Delhi", "Delhi", "Delhi"])
        #expect(scenario.log == ["waqi reports a server error: status 500; trying again"])
        scenario.now = start + 10 * minute
        #expect(scenario.answerAll() == ["Delhi"])
        #expect(scenario.log.last == "waqi responds again")
    }

    @Test func `The back-off doubles up to the interval, with full jitter`() {
        var scenario = Scenario(random: 0.5)
        var waits: [Int64] = []
        for _ in 0..<13 {
            _ = scenario.ask()
            scenario.fail()
            let wait = scenario.ask().wait ?? 0
            waits.append(wait - scenario.now)
            scenario.now = wait
        }
        let bounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900].map { Int64($0) * 500 }
        #expect(waits == bounds)
        _ = scenario.answerAll()
        scenario.now = (scenario.now / hour + 1) * hour + minute
        _ = scenario.ask()
        scenario.fail()
        #expect(scenario.ask().wait == scenario.now + 500)
    }

    @Test func `Retry-After is obeyed, an hour at most`() {
        for (name, value, wait) in [
            ("Retry-After", "120", 120_000), ("x-ratelimit-reset", "30", 30_000), ("retry-after", "86400", hour),
        ] {
            for status in [429, 503] {
                var scenario = Scenario()
                _ = scenario.ask()
                scenario.answer(status, headers: [HTTPField(name: name, value: value)])
                #expect(scenario.ask().wait == start + wait)
            }
        }
        var scenario = Scenario(random: 0.5)
        _ = scenario.ask()
        scenario.answer(429, #"{"error":true,"reason":"Minutely API request limit exceeded."}"#)
        #expect(scenario.ask().wait == start + 60_000)
        #expect(
            scenario.log == [
                "waqi asks for fewer calls: status 429: Minutely API request limit exceeded.; trying again"
            ])
    }

    @Test func `The last call that is allowed is followed by the wait that the source names`() {
        var scenario = Scenario()
        _ = scenario.ask()
        scenario.answer(
            200, station(50, at: start),
            headers: [
                HTTPField(name: "x-ratelimit-remaining", value: "0"), HTTPField(name: "x-ratelimit-reset", value: "45"),
            ])
        #expect(scenario.ask().wait == start + 45_000)
        #expect(scenario.log.isEmpty)
    }

    @Test func `A rejection ends the round, and the next one asks again`() {
        for (status, body, line) in [
            (401, #"{"message":"Unauthorized"}"#, "waqi refuses: status 401: Unauthorized"),
            (403, "", "waqi refuses: status 403"),
            (200, #"{"status":"error","data":"Invalid key"}"#, "waqi refuses: Invalid key"),
            (
                400, #"{"error":true,"reason":"The supplied API key is invalid."}"#,
                "waqi refuses: status 400: The supplied API key is invalid."
            ),
        ] {
            var scenario = Scenario()
            _ = scenario.ask()
            scenario.answer(status, body)
            #expect(scenario.ask().wait == start + 10 * minute)
            scenario.now = start + 10 * minute
            #expect(scenario.ask().city == "Delhi")
            scenario.answer(status, body)
            #expect(scenario.log == [line + " (the key is from --key-file \"k\"); trying again at the next interval"])
            scenario.now = start + 25 * minute
            #expect(scenario.answerAll() == ["Delhi", "Pune", "Agra"])
            #expect(scenario.log.last == "waqi responds again")
        }
    }

    @Test func `A dead and an unknown station are cities without air, each said once, and hold up nobody`() {
        var scenario = Scenario()
        let answers = [
            #"{"status":"ok","data":{"aqi":"-","time":{"tz":"+03:00","v":0}}}"#,
            #"{"status":"ok","data":{"status":"error","msg":"Unknown ID"}}"#, station(50, at: start),
        ]
        for answer in answers {
            _ = scenario.ask()
            scenario.answer(200, answer)
        }
        #expect(scenario.ask().wait == start + 10 * minute)
        #expect(scenario.log == ["left out Delhi: the station gives no index", "left out Pune: Unknown ID"])
        #expect(scenario.news == ["Agra 50"])
    }

    @Test func `Requests, failures and cities are counted`() {
        var scenario = Scenario()
        #expect(scenario.figures.requests == 0 && scenario.figures.failures.isEmpty)
        _ = scenario.ask()
        scenario.fail()
        _ = scenario.ask()
        scenario.answer(429)
        scenario.now += minute
        _ = scenario.ask()
        scenario.answer(404)
        _ = scenario.ask()
        scenario.answer(200, station(50, at: start))
        #expect(scenario.figures.requests == 4)
        #expect(scenario.figures.failures == [.unreachable: 1, .busy: 1, .status: 1])
        #expect(scenario.figures.citiesWithAir == 1)
        #expect(scenario.figures.newestObservation == start / hour * 3600)
        #expect(scenario.figures.callsLeft == 98)
    }

    @Test func `A redirect is named without its query`() {
        var scenario = Scenario()
        _ = scenario.ask()
        scenario.answer(301, headers: [HTTPField(name: "Location", value: "https://other/feed?token=secret")])
        #expect(
            scenario.log == ["waqi has no data for Delhi: status 301, which redirects to https://other/feed?***"])
    }

    @Test func `A status that says no to one query leaves the others`() {
        var scenario = Scenario()
        _ = scenario.ask()
        scenario.answer(404)
        #expect(scenario.answerAll() == ["Pune", "Agra"])
        #expect(scenario.log == ["waqi has no data for Delhi: status 404"])
        scenario.now = start + 10 * minute
        #expect(scenario.answerAll() == ["Delhi"])
    }

    // MARK: What is known

    @Test func `Why a city is left out is said once, ten at most`() {
        var scenario = Scenario()
        for _ in 0..<2 {
            while scenario.ask().city != nil { scenario.answer(200, #"{"status":"error","data":"Unknown station"}"#) }
            scenario.now += 15 * minute
        }
        #expect(scenario.log == cities.map { "left out \($0.name): Unknown station" })
    }

    /// As public recordings of WAQI have it: an index, and from then on `"-"` with the old time.
    @Test func `A station that says 480 and then nothing is news once`() {
        var scenario = Scenario()
        for answer in [station(480, at: start - hour)]
            + (1...4).map({ _ in
                station(480, at: start - hour).replacing(":480,", with: ":\"-\",")
            })
        {
            while let city = scenario.ask().city {
                scenario.answer(200, city == "Delhi" ? answer : station(50, at: scenario.now))
            }
            scenario.now += hour
        }
        #expect(scenario.news.filter { $0.hasPrefix("Delhi") } == ["Delhi 480"])
        #expect(scenario.log == ["left out Delhi: the station gives no index"])
    }

    @Test func `A city without air is said again once a day, whatever its age, together with all that is left out`() {
        var scenario = Scenario(interval: .seconds(3600))
        for _ in 0..<30 {
            while let city = scenario.ask().city {
                let isLate = city == "Delhi"
                let answer = station(50, at: isLate ? scenario.now - 26 * hour : scenario.now)
                scenario.answer(200, city == "Pune" ? answer.replacing(":50,", with: ":\"-\",") : answer)
            }
            scenario.now += hour
        }
        #expect(
            scenario.log == [
                "left out Delhi: the station's time is 2026-07-20T17:00:00Z",
                "left out Pune: the station gives no index",
                "not taken as they came: 1 cities because the station gives no index (Pune), "
                    + "1 cities because the station's time is 2026-07-21T18:00:00Z (Delhi)",
            ])
    }

    @Test func `An older observation than the known one is no news`() {
        var scenario = Scenario()
        _ = scenario.ask()
        scenario.answer(200, station(50, at: start - hour))
        scenario.now += 10 * minute
        while let city = scenario.ask().city {
            scenario.answer(200, station(60, at: city == "Delhi" ? start - 2 * hour : start))
        }
        #expect(scenario.news == ["Delhi 50", "Pune 60", "Agra 60"])
    }

    @Test func `A clock that is set back delays nothing for longer than the interval`() {
        var scenario = Scenario()
        _ = scenario.answerAll()
        scenario.now = start - 5 * hour
        let wait = scenario.ask().wait ?? 0
        #expect(wait <= start - 5 * hour + 15 * minute)
        var paused = Scenario()
        _ = paused.ask()
        paused.answer(429, headers: [HTTPField(name: "Retry-After", value: "3600")])
        paused.now = start - 5 * hour
        #expect(paused.ask().wait == start - 4 * hour)
    }
}
