import HTTPServer
import Testing

@Suite struct AcceptEncodingTests {
    struct AcceptCase: Sendable, CustomTestStringConvertible {
        var header: String?
        var gzip: Bool
        var testDescription: String { header ?? "no header" }

        static let all: [AcceptCase] = [
            .init(header: nil, gzip: false), .init(header: "", gzip: false), .init(header: "gzip", gzip: true),
            .init(header: "GZip", gzip: true), .init(header: "x-gzip", gzip: true),
            .init(header: "gzip, deflate, br, zstd", gzip: true), .init(header: "deflate, br", gzip: false),
            .init(header: "deflate,gzip;q=0", gzip: false), .init(header: "gzip;q=0.0", gzip: false),
            .init(header: "gzip;q=0.000", gzip: false), .init(header: "gzip;q=0.001", gzip: true),
            .init(header: " gzip ; q=0.5 ", gzip: true), .init(header: "gzip;Q=0", gzip: false),
            .init(header: "gzip\t;\tq=1.000", gzip: true), .init(header: "*", gzip: true),
            .init(header: "*;q=0", gzip: false), .init(header: "*;q=0, gzip", gzip: true),
            .init(header: "gzip;q=0, *", gzip: false), .init(header: "identity", gzip: false),
            .init(header: "identity;q=0, gzip", gzip: true), .init(header: "identity;q=0", gzip: false),
            .init(header: "identity;q=1, gzip;q=0.5", gzip: false),
            .init(header: "identity;q=0.5, gzip;q=0.5", gzip: true),
            .init(header: "identity;q=0.5, *;q=0.7", gzip: true), .init(header: "gzip;q=1.001", gzip: false),
            .init(header: "gzip;q=2", gzip: false), .init(header: "gzip;q=", gzip: false),
            .init(header: "gzip;q=abc", gzip: false), .init(header: "gzip;q=-1", gzip: false),
            .init(header: "gzip;q=0.1234", gzip: false), .init(header: "gzip;q=0.5;x=1", gzip: true),
            .init(header: "gzip;x=1;q=0", gzip: false), .init(header: ",,gzip,,", gzip: true),
            .init(header: "gzipped", gzip: false), .init(header: "xgzip", gzip: false),
            .init(header: "gzip zip", gzip: false),
            .init(header: "gzip;q=abc, x-gzip", gzip: true), .init(header: "gzip;", gzip: true),
            // The first elements, and the first parameters of each.
            .init(header: String(repeating: "br,", count: 15) + "gzip", gzip: true),
            .init(header: String(repeating: "br,", count: 16) + "gzip", gzip: false),
            .init(header: "gzip" + String(repeating: ";x=1", count: 7) + ";q=0", gzip: true),
        ]
    }

    @Test(arguments: AcceptCase.all) func acceptEncoding(_ scenario: AcceptCase) {
        #expect(prefersGzip(acceptEncoding: scenario.header) == scenario.gzip)
    }
}
