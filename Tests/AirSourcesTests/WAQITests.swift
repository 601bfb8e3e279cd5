import AirQualityIndex
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

    private func source() -> WAQI { WAQI(cities: [delhi], token: "k&y") }

    @Test func `A query asks by place, or by the station's own number`() {
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
        var source = source()
        let document = station()
        #expect(
            try air(source.findings(for: [0]) { _ in document })
                == CityAir(
                    index: 68, observedAt: 1_784_660_400, subIndices: [.pm25: 68], basis: "given", attribution: "WAQI"))
        let text = station(aqi: "\"68\"")
        #expect(try air(source.findings(for: [0]) { _ in text }).index == 68)
    }

    @Test func `A station that says nothing, is late, or is far away is no air, and why`() throws {
        var source = source()
        for (document, text) in [
            (station(aqi: "\"-\""), "the station gives no index"), (station(aqi: "-1"), "the station gives no index"),
            (station(iso: ""), "the station gives no time"),
            (station(iso: "2026-07-20T12:00:00+05:30"), "the station's time is 2026-07-20T12:00:00+05:30"),
            (station(iso: "2026-07-23T12:00:00+05:30"), "the station's time is 2026-07-23T12:00:00+05:30"),
            (station(geo: "[18.52, 73.85]"), "the nearest station is 1177 km away"),
            (#"{"status":"error","data":"Unknown station"}"#, "Unknown station"),
            // As they were recorded: a number that is unknown, and a station that has died.
            (#"{"status":"ok","data":{"status":"error","msg":"Unknown ID"}}"#, "Unknown ID"),
            (
                #"{"status":"ok","data":{"aqi":"-","time":{"tz":"+03:00","v":0},"city":{"geo":[41.0,28.9]},"iaqi":{}}}"#,
                "the station gives no index"
            ),
            (#"{"status":"ok","data":{"aqi":7,"time":{"tz":"+03:00","v":0}}}"#, "the station gives no time"),
            (station(geo: "[1e300, 77]"), "the station's place is none on the globe"),
            (station(geo: #"["18.52", "73.85"]"#), "the nearest station is 1177 km away"),
            (station(geo: "null"), "the station gives no place"),
            (station(geo: "[28.6]"), "the station gives no place"),
            (station(geo: #"["north", "east"]"#), "the station gives no place"),
            (station().replacing("\"city\"", with: "\"town\""), "the station gives no place"),
        ] {
            let reason = try reason(source.findings(for: [0]) { _ in document })
            #expect(reason == text)
        }
    }

    @Test func `Values of a pollutant may be text, and those that are no sub-index are named`() throws {
        let source = source()
        let document = station(geo: #"["28.6", " 77.2 "]"#).replacing(
            #""pm25":{"v":68}"#,
            with: #""pm25":{"v":"68"},"pm10":{"v":"-"},"o3":{"v":99999},"no2":{"v":-3},"so2":{"v":"low"},"#
                + #""co":{"v":null}"#)
        let query = source.queries(for: [0], at: now)[0]
        let response = try source.read(Array(document.utf8), of: query, at: now)
        #expect(try air(response.findings).subIndices == [.pm25: 68])
        let names = ["o3", "no2", "so2"].map { Omission("values that are no sub-index", "\($0) of Delhi") }
        #expect(response.omissions == Set(names))
    }

    @Test func `Another station than the one that was named is none`() throws {
        var city = delhi
        for (id, isIt) in [("@1437", true), ("@1438", false), ("@-7", true), ("delhi", true)] {
            city.id = id
            var source = WAQI(cities: [city], token: "demo")
            let document = station(geo: "[31.2, 121.4]")
            let findings = try source.findings(for: [0]) { _ in document }
            if isIt {
                #expect(try air(findings).index == 68)
            } else {
                #expect(try reason(findings) == "it gives another station in place of @1438")
            }
        }
    }

    @Test func `A time shortly ahead of the clock is now, because the exporter rejects one ahead`() throws {
        var source = source()
        let document = station(iso: "2026-07-22T01:29:00+05:30")
        #expect(try air(source.findings(for: [0]) { _ in document }).observedAt == now)
    }

    @Test(arguments: [
        (#"{"s":"2026-07-22 00:30:00","tz":"+05:30","v":1784680200}"#, true),
        (#"{"iso":"2026-07-22T00:30:00","tz":"+05:30"}"#, true), (#"{"s":"2026-07-22 00:30:00"}"#, false),
        (#"{"s":"","tz":"","v":0}"#, false),
    ])
    func `A time in parts is read with its zone`(time: String, isRead: Bool) throws {
        var source = source()
        let document = """
            {"status":"ok","data":{"aqi":68,"idx":1437,"city":{"geo":[28.6,77.2]},"iaqi":{},"time":\(time)}}
            """
        let findings = try source.findings(for: [0]) { _ in document }
        if isRead {
            #expect(try air(findings).observedAt == 1_784_660_400)
        } else {
            #expect(try reason(findings).hasPrefix("the station"))
        }
    }

    /// Recorded on 8 September 2022: joostlek/python-waqi@c2b3aca tests/fixtures/station_number_feed_10002.json.
    @Test func `A recorded station that has stopped gives no air and the reason`() throws {
        let nastola = PolledCity(name: "Nastola", latitude: 60.94, longitude: 25.93, id: "@10002")
        var source = WAQI(cities: [nastola], token: "k")
        let document = """
            {"status":"ok","data":{"aqi":"-","idx":10002,"attributions":[{"url":"http://www.ilmanlaatu.fi/","name":
            "Ilmanlaatu - Air Quality in finland","logo":"Finland-ilmanlaatu.png"}],"city":{"geo":[60.93642,25.96135],
            "name":"Rakokiventie siirrettävä, Nastola, Finland","location":""},"dominentpol":"","iaqi":{"dew":{"v":4},
            "h":{"v":93},"p":{"v":1025},"t":{"v":5},"w":{"v":2},"wg":{"v":11.3}},"time":{"tz":"+03:00","v":0},
            "forecast":{"daily":{"pm25":[{"avg":9,"day":"2022-09-06","max":14,"min":6}]}}}}
            """
        #expect(try reason(source.findings(for: [0]) { _ in document }) == "the station gives no index")
    }

    @Test func `Refusals come with status 200`() throws {
        var source = source()
        #expect(try source.error(of: #"{"status":"error","data":"Invalid key"}"#) == .refused("Invalid key"))
        #expect(try source.error(of: #"{"status":"error","data":"Over quota"}"#) == .busy("Over quota"))
        #expect(try source.error(of: #"{"status":"ok","data":[]}"#) == .unreadable("data has the wrong type"))
        let error = try source.error(of: "null")
        #expect(error == .unreadable("data is missing"))
    }
}
