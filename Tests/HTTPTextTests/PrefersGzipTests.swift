import HTTPText
import Testing

@Suite struct PrefersGzipTests {
    @Test(
        arguments: [
            "gzip", "GZip", "x-gzip", "gzip, deflate, br, zstd", "gzip;q=0.001", " gzip ; q=0.5 ", "gzip\t;\tq=1.000",
            "*", "*;q=0, gzip", "identity;q=0, gzip", "identity;q=0.5, gzip;q=0.5", "identity;q=0.5, *;q=0.7",
            "gzip;q=0.5;x=1", ",,gzip,,", "gzip;q=abc, x-gzip", "gzip;",
            // Only the first elements, and the first parameters of each, are read.
            String(repeating: "br,", count: 15) + "gzip",
            "gzip" + String(repeating: ";x=1", count: 7) + ";q=0",
        ])
    func `An Accept-Encoding header prefers gzip`(_ header: String) { #expect(prefersGzip(acceptEncoding: header)) }

    @Test(
        arguments: [
            nil, "", "deflate, br", "deflate,gzip;q=0", "gzip;q=0.0", "gzip;q=0.000", "gzip;Q=0", "*;q=0",
            "gzip;q=0, *", "identity", "identity;q=0", "identity;q=1, gzip;q=0.5", "gzip;q=1.001", "gzip;q=2",
            "gzip;q=", "gzip;q=abc", "gzip;q=-1", "gzip;q=0.1234", "gzip;x=1;q=0", "gzipped", "xgzip", "gzip zip",
            String(repeating: "br,", count: 16) + "gzip",
        ] as [String?])
    func `An Accept-Encoding header avoids gzip`(_ header: String?) { #expect(!prefersGzip(acceptEncoding: header)) }
}
