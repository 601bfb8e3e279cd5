import HTTPText
import Testing

@testable import AirQuality
@testable import AirQualityExporter

struct FeedSourceTests {
    @Test(
        arguments: [
            (#"open-meteo; kind=model; license="CC BY 4.0""#, ["open-meteo", "model", "CC BY 4.0"]),
            ("cpcb;KIND=stations", ["cpcb", "stations", ""]), ("waqi", ["waqi", "", ""]),
            (#"a b ; license = "x" ; kind=satellite"#, ["a b", "", ""]),
            (#""a;b"; license="say \"hi\" \\; or not" ; kind=model"#, ["a;b", "model", #"say "hi" \; or not"#]),
            ("openaq; license=\"unfinished; kind=model", ["openaq", "", "unfinished; kind=model"]),
            ("x; kind; license; =; ;;", ["x", "", ""]),
            (String(repeating: "x", count: 128), [String(repeating: "x", count: 128), "", ""]),
            ("x; license=\(String(repeating: "y", count: 129))", ["x", "", ""]),
            ("x; license=\"a\u{7}b\"", ["x", "", ""]), (String(repeating: "x", count: 129), nil), ("", nil),
            ("; kind=model", nil), ("\u{1}", nil),
        ] as [(String, [String]?)])
    func `A source has a kind and a license, none longer than 128 bytes`(text: String, expected: [String]?) {
        let other = HTTPField(name: "Air-Quality-Source", value: "second")
        let source = FeedSource([HTTPField(name: "Air-Quality-Source", value: text), other])
        #expect(source.map { [$0.name, $0.kind, $0.license] } == expected)
    }
}
