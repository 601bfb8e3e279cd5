import AirQualityIndex
import Testing

@testable import AirSources

/// Times near both limits of 64 bits, wherever a source has a time; the same documents with a good time have air.
/// Open-Meteo is tested with its own documents.
struct ExtremeTimesTests {
    private static let good = rfc3339(thisHour)
    private static let goodIndian = "22-07-2026 00:00:00"
    private static let times = [
        good, "\(Int64.min)", "\(Int64.max)", "-9223372036854775808-07-22T00:00:00Z", "9999-12-31T23:59:59Z",
    ]
    private static let indianTimes = [
        goodIndian, "\(Int64.min)", "\(Int64.max)", "31-12-9999 23:59:59", "00-00-0000 00:00:00",
    ]

    private func expectAir(_ isThere: Bool, from source: some AirSource, _ document: (_ path: String) -> String?) {
        var source = source
        do {
            let findings = try source.findings(for: [0], document)
            #expect(findings.contains { (try? $0.air.get()) != nil } == isThere, "\(findings)")
        } catch {
            #expect(error is SourceError && !isThere)
        }
    }

    /// The time as a string, and as a number if it is one.
    private func members(_ time: String) -> [String] { ["\"\(time)\""] + (Int64(time) == nil ? [] : [time]) }

    @Test(arguments: times) func `A time from WAQI near the limits of 64 bits is rejected`(time: String) {
        for time in members(time) {
            expectAir(time == "\"\(Self.good)\"", from: WAQI(cities: [delhi], token: "k")) { _ in
                #"{"status":"ok","data":{"aqi":68,"idx":7,"time":{"v":\#(time),"iso":\#(time)},"iaqi":{},"#
                    + #""city":{"geo":[28.6,77.2]}}}"#
            }
        }
    }

    @Test(arguments: times) func `A time from OpenAQ near the limits of 64 bits is rejected`(time: String) {
        let sensors = ["pm25", "no2", "o3"].enumerated().map {
            #"{"id":\#($0),"parameter":{"name":"\#($1)","units":"µg/m³"}}"#
        }
        let stations = #""isMonitor":true,"sensors":[\#(sensors.joined(separator: ","))]"#
        for time in members(time) {
            for last in [time, "\"\(Self.good)\""] {
                expectAir(time == "\"\(Self.good)\"", from: OpenAQ(cities: [delhi], scale: .eu, key: "k")) { path in
                    path.hasPrefix("/v3/locations")
                        ? #"{"results":[{"id":1,"datetimeLast":{"utc":\#(last)},\#(stations)}]}"#
                        : #"{"results":[{"value":30,"period":{"datetimeTo":{"utc":\#(time)}}}]}"#
                }
            }
        }
    }

    @Test(arguments: indianTimes) func `A time from data.gov.in near the limits of 64 bits is rejected`(time: String) {
        for time in members(time) {
            let rows = ["PM2.5", "PM10", "CO"].map {
                #"{"city":"Delhi","station":"ITO","last_update":\#(time),"latitude":"28.6","longitude":"77.2","#
                    + #""pollutant_id":"\#($0)","avg_value":"60"}"#
            }
            expectAir(time == "\"\(Self.goodIndian)\"", from: CPCB(cities: [delhi], key: "k")) { _ in
                #"{"status":"ok","total":3,"records":[\#(rows.joined(separator: ","))]}"#
            }
        }
    }

    @Test(arguments: indianTimes) func `A time from CPCB's feed near the limits of 64 bits is rejected`(time: String) {
        expectAir(time == Self.goodIndian, from: CPCBFeed(cities: [delhi])) { _ in
            #"<AqIndex><City id="Delhi"><Station id="A" lastupdate="\#(time)" latitude="28.63" longitude="77.22">"#
                + #"<Pollutant_Index id="PM10" Avg="97"/><Air_Quality_Index Value="97"/></Station></City></AqIndex>"#
        }
    }
}
