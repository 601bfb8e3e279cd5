import Testing

import enum AirQuality.Pollutant

@testable import AirSources

/// Documents in the shape of https://aqicn.org/json-api/doc, "Geolocalized feed".
struct WAQITests {
    private func station(
        aqi: String = "68", iso: String = "2026-07-22T00:30:00+05:30", geo: String = "[28.6, 77.2]"
    ) -> String {
        """
        {"status":"ok","data":{"aqi":\(aqi),"idx":1437,"attributions":[{"url":"https://waqi.info/","name":"WAQI"}],
        "city":{"geo":\(geo),"name":"Delhi","url":"https://aqicn.org/city/delhi"},"dominentpol":"pm25",
        "iaqi":{"pm25":{"v":68},"t":{"v":8}},
        "time":{"s":"2026-07-22 00:30:00","tz":"+05:30","v":1784680200,"iso":"\(iso)"}}}
        """
    }

    private let source = WAQI(cities: [delhi], token: "k&y")

    @Test func `A query asks by place, or by the configured id`() {
        var (station, city) = (pune, pune)
        station.id = "@1437"
        city.id = "usa/fresno?"
        let queries = WAQI(cities: [delhi, station, city], token: "k&y").queries(for: [0, 1, 2], at: now)
        #expect(
            queries.map(\.path) == [
                "/feed/geo:28.652;77.2315/?token=k%26y", "/feed/@1437/?token=k%26y",
                "/feed/usa/fresno%3F/?token=k%26y",
            ])
    }

    @Test func `The index is passed on as given, with the time of its zone and no concentrations`() throws {
        #expect(
            try air(source.findings(in: station()))
                == CityAir(
                    aqi: 68, observedAt: 1_784_660_400, subIndices: [.pm25: 68], basis: "given", attribution: "WAQI"))
        #expect(try air(source.findings(in: station(aqi: "\"68\""))).aqi == 68)
    }

    @Test func `A station that is silent, late or far away gives no air but a reason`() throws {
        for (document, text) in [
            (station(aqi: "\"-\""), "the station gives no index"), (station(aqi: "-1"), "the station gives no index"),
            (station(iso: ""), "the station gives no time"),
            (station(iso: "2026-07-20T12:00:00+05:30"), "the station's time is 2026-07-20T12:00:00+05:30"),
            (station(iso: "2026-07-23T12:00:00+05:30"), "the station's time is 2026-07-23T12:00:00+05:30"),
            (station(geo: "[18.52, 73.85]"), "the nearest station is 1177 km away"),
            (#"{"status":"error","data":"Unknown station"}"#, "Unknown station"),
            // As recorded: an unknown id, and a station that has died.
            (#"{"status":"ok","data":{"status":"error","msg":"Unknown ID"}}"#, "Unknown ID"),
            (
                #"{"status":"ok","data":{"aqi":"-","time":{"tz":"+03:00","v":0},"city":{"geo":[41.0,28.9]},"iaqi":{}}}"#,
                "the station gives no index"
            ),
            (#"{"status":"ok","data":{"aqi":7,"time":{"tz":"+03:00","v":0}}}"#, "the station gives no time"),
            (station(geo: "[1e300, 77]"), "the station gives no place"),
            (station(geo: #"["18.52", "73.85"]"#), "the nearest station is 1177 km away"),
            (station(geo: "null"), "the station gives no place"),
            (station(geo: "[28.6]"), "the station gives no place"),
            (station(geo: #"["north", "east"]"#), "the station gives no place"),
            (station().replacing("\"city\"", with: "\"town\""), "the station gives no place"),
        ] { #expect(try reason(source.findings(in: document)) == text) }
    }

    @Test func `Pollutant values may be text, and those that are no sub-index are named`() throws {
        let document = station(geo: #"["28.6", " 77.2 "]"#).replacing(
            #""pm25":{"v":68}"#,
            with: #""pm25":{"v":"68"},"pm10":{"v":"-"},"o3":{"v":99999},"no2":{"v":-3},"so2":{"v":"low"},"#
                + #""co":{"v":null}"#)
        let response = try source.response(to: document)
        #expect(try air(response.findings).subIndices == [.pm25: 68])
        let names = ["o3", "no2", "so2"].map { Omission("values that are not sub-indices", "\($0) of Delhi") }
        #expect(response.omissions == Set(names))
    }

    @Test(arguments: [("@1437", true), ("@1438", false), ("@-7", true), ("delhi", true)])
    func `A station other than the requested one is rejected`(id: String, isAccepted: Bool) throws {
        var city = delhi
        city.id = id
        let findings = try WAQI(cities: [city], token: "demo").findings(in: station(geo: "[31.2, 121.4]"))
        if isAccepted {
            #expect(try air(findings).aqi == 68)
        } else {
            #expect(try reason(findings) == "it gives another station in place of @1438")
        }
    }

    @Test func `A time slightly ahead of the clock becomes now, as the exporter rejects future ones`() throws {
        #expect(try air(source.findings(in: station(iso: "2026-07-22T01:29:00+05:30"))).observedAt == now)
    }

    @Test(arguments: [
        (#"{"s":"2026-07-22 00:30:00","tz":"+05:30","v":1784680200}"#, true),
        (#"{"iso":"2026-07-22T00:30:00","tz":"+05:30"}"#, true), (#"{"s":"2026-07-22 00:30:00"}"#, false),
        (#"{"s":"","tz":"","v":0}"#, false),
    ])
    func `A time in parts is combined with its zone`(time: String, isRead: Bool) throws {
        let findings = try source.findings(
            in: #"{"status":"ok","data":{"aqi":68,"idx":1437,"city":{"geo":[28.6,77.2]},"iaqi":{},"time":\#(time)}}"#)
        if isRead {
            #expect(try air(findings).observedAt == 1_784_660_400)
        } else {
            #expect(try reason(findings).hasPrefix("the station"))
        }
    }

    @Test func `Errors in responses with status 200 are recognised`() throws {
        for (document, error) in [
            (#"{"status":"error","data":"Invalid key"}"#, .refused("Invalid key")),
            (#"{"status":"error","data":"Over quota"}"#, .busy("Over quota")),
            (#"{"status":"ok","data":[]}"#, .unreadable("data has the wrong type")),
            ("null", .unreadable("data is missing")),
            (#"{"status":"nug","data":null}"#, .failed("it gives no reason")),
            (#"{"status":"error"}"#, .failed("it gives no reason")),
        ] as [(String, SourceError)] { #expect(try source.error(of: document) == error) }
    }
}
