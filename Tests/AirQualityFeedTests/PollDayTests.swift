import AirQualityIndex
import Bytes
import HTTPText
import Synchronization
import System
import TestSupport
import Testing

@testable import AirQualityFeed
@testable import AirSources
@testable import HTTPClient

private let hour: Int64 = 3_600_000
/// 2026-07-21.
private let midnight: Int64 = 1_784_592_000_000

private let cities = ["Delhi", "Pune", "Agra", "Patna", "Kota", "Surat"].enumerated().map { number, name in
    PolledCity(name: name, latitude: 20 + Double(number), longitude: 77)
}

private func iso(_ time: Int64) -> String { rfc3339(time / 1000) }

/// A source that responds as documented, and with a fault to every fifth request.
private struct Service {
    let source: DataSource
    var random: SeededRandom

    mutating func answer(_ query: SourceQuery, at now: Int64) -> Result<HTTPClientResponse, SystemError> {
        switch random.next() % 35 {
        case 0: return .failure(SystemError(.peer, "30 s"))
        case 1: return .failure(SystemError(.peer, "cut off"))
        case 2: return .success(HTTPClientResponse(status: 500))
        case 3: return .success(HTTPClientResponse(status: 429, headers: [HTTPField(name: "Retry-After", value: "90")]))
        case 4: return .success(HTTPClientResponse(status: 200, body: Array("<html>".utf8)))
        case 5:
            return .success(HTTPClientResponse(status: 200, body: Array(#"{"status":"error","message":"busy"}"#.utf8)))
        case 6: return .success(HTTPClientResponse(status: 404))
        default:
            // The newest hour is available twelve minutes after it has begun.
            let newest = (now - 12 * 60_000) / hour * hour
            let body = Array(document(query.path, newest).utf8)
            return .success(HTTPClientResponse(status: 200, body: body))
        }
    }

    private func document(_ url: String, _ newest: Int64) -> String {
        switch source {
        case .openMeteo:
            let count = url.split(separator: "latitude=")[1].prefix { $0 != "&" }.split(separator: ",").count
            let hours = (0..<Int64(30)).map { newest / 1000 - $0 * 3600 }
            let values = hours.map { _ in "20" }.joined(separator: ",")
            let series = ["pm2_5", "ozone", "nitrogen_dioxide"].map { "\"\($0)\":[\(values)]" }.joined(separator: ",")
            let place = "{\"hourly\":{\"time\":[\(hours.map { "\($0)" }.joined(separator: ","))],\(series)}}"
            return "[" + Array(repeating: place, count: count).joined(separator: ",") + "]"
        case .waqi:
            let place = url.split(separator: "geo:")[1].prefix { $0 != "/" }.replacing(";", with: ",")
            return #"{"status":"ok","data":{"aqi":33,"city":{"geo":[\#(place)]},"time":{"iso":"\#(iso(newest))"}}}"#
        case .openaq:
            if url.contains("/v3/locations") {
                let sensors = ["pm25", "o3", "no2"].enumerated().map { number, name in
                    #"{"id":\#(number + 1),"parameter":{"name":"\#(name)","units":"µg/m³"}}"#
                }
                return #"{"results":[{"distance":1,"datetimeLast":{"utc":"\#(iso(newest))"},"sensors":["#
                    + sensors.joined(separator: ",") + "]}]}"
            }
            let hours = (0..<Int64(25)).map { age in
                #"{"value":20,"period":{"datetimeTo":{"utc":"\#(iso(newest - age * hour))"}}}"#
            }
            return #"{"results":[\#(hours.joined(separator: ","))]}"#
        case .cpcb:
            let local = iso(newest + 5 * hour + hour / 2)
            let updated = "\(local.prefix(10).suffix(2))-07-2026 \(local.dropFirst(11).prefix(2)):30:00"
            let rows = cities.flatMap { city in
                ["PM2.5", "OZONE", "NO2"].map { pollutant in
                    #"{"city":"\#(city.name)","station":"S","last_update":"\#(updated)","latitude":"\#(city.latitude)","#
                        + #""longitude":"77","pollutant_id":"\#(pollutant)","avg_value":"34"}"#
                }
            }
            if url.contains("rss_feed") {
                let towns = cities.map { city in
                    #"<City id="\#(city.name)"><Station id="S" lastupdate="\#(updated)" latitude="\#(city.latitude)""#
                        + #" longitude="77"><Air_Quality_Index Value="34"/></Station></City>"#
                }
                return "<AqIndex>\(towns.joined())</AqIndex>"
            }
            // Five rows at a time.
            let offset = url.split(separator: "offset=")[1].prefix { $0 != "&" }
            let page = rows.dropFirst(Int(offset) ?? 0).prefix(5)
            return #"{"total":\#(rows.count),"records":[\#(page.joined(separator: ","))]}"#
        default: return "[]"
        }
    }
}

struct PollDayTests {
    /// The sources' documented limits.
    private static let limits: [DataSource: [(Int64, Int)]] = [
        .openMeteo: [(60_000, 600), (hour, 5000), (24 * hour, 10_000)], .waqi: [(1000, 60), (60_000, 1000)],
        .openaq: [(60_000, 60), (hour, 2000)], .cpcb: [(60_000, 40)],
    ]

    private static let sources: [(DataSource, String?)] =
        DataSource.all.filter { $0 != .json }.map { ($0, "k") } + [(.cpcb, nil)]

    @Test(arguments: sources)
    func `A day with faults loses at most one hour and stays within the source's limits`(
        source: DataSource, key: String?
    ) throws {
        var service = Service(source: source, random: SeededRandom(seed: 7))
        let dice = Mutex(SeededRandom(seed: 8))
        var plan = PollPlan(
            source: source,
            api: source.api(
                DataSource.Setup(
                    cities: cities, scale: .india, key: key, maximumCost: source.rate.calls,
                    document: SourceQuery(path: "/", headers: [], subject: ""))),
            cities: cities, rate: source.rate, interval: .seconds(900),
            random: { dice.withLock { Double($0.next() % 1000) / 1000 } })
        var now = midnight + 20 * 60_000
        let end = midnight + 24 * hour
        var calls: [Int64] = []
        var heard: [Int: Set<Int64>] = [:]
        var log: [String] = []
        while now < end {
            switch plan.next(at: now) {
            case .wait(let time):
                try #require(time > now)
                now = time
            case .ask(let query):
                let cost = source == .openMeteo ? query.path.split(separator: "&")[0].split(separator: ",").count : 1
                calls += Array(repeating: now, count: cost)
                let response = service.answer(query, at: now)
                now += 200
                let report = plan.take(response, at: now)
                for (city, air) in report.news { heard[city, default: []].insert(air.observedAt * 1000) }
                log += report.log
            }
        }
        for (window, allowed) in try #require(Self.limits[source]) {
            var (first, most) = (0, 0)
            for (last, time) in calls.enumerated() {
                while calls[first] <= time - window { first += 1 }
                most = max(most, last - first + 1)
            }
            #expect(most <= allowed, "\(window) ms")
        }
        // The last hour may still be on its way, and the first may have been late.
        let wanted = (1..<23).map { midnight + Int64($0) * hour }
        for city in cities.indices {
            let missed = wanted.filter { heard[city]?.contains($0) != true }
            #expect(missed.count <= 1, "\(cities[city].name): \(missed.map(iso))")
        }
        // No more than a few requests for each hour of a city, and a line for what changes, not for each request.
        #expect(calls.count < 24 * cities.count * 12, "\(calls.count)")
        #expect(log.count < calls.count / 2 && log.count < 600, "\(log.count)")
        #expect(plan.figures(at: now).failures.values.reduce(0, +) > 5)
    }
}
