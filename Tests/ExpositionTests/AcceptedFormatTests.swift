import Testing

@testable import Exposition

struct AcceptedFormatTests {
    /// Accept headers, mostly of Prometheus releases, and the formats they get.
    @Test(
        arguments: [
            (nil, .text004),
            // 2.5 – 2.30
            ("application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .text004),
            // 2.37 – 2.45
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                .openMetrics100
            ),
            // 2.49 – 2.55
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                .openMetrics100
            ),
            // 2.49.0 had a mistake.
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=2",
                .openMetrics100
            ),
            // 3.0 – 3.2
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
                .openMetrics100
            ),
            // 3.5 –, protobuf first
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
                .openMetrics100
            ),
            ("text/plain;version=1.0.0;escaping=allow-utf-8", .text004), ("text/plain", .text004),
            ("text/plain;version=0.0.4", .text004), ("text/plain; version=\"1.0.0\"", .text004),
            ("text/*", .text004), ("*/*", .text004), ("text/plain;version=9", .text004), ("image/png", .text004),
            ("", .text004), (",;=,/", .text004), ("*/*;q=0", .text004),
            ("application/openmetrics-text", .openMetrics100),
            ("APPLICATION/OpenMetrics-Text;Version=1.0.0", .openMetrics100),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .text004),
            ("application/openmetrics-text;q=0.5,text/plain;q=0.6", .text004),
            ("application/openmetrics-text;q=0.6,text/plain;q=0.5", .openMetrics100),
            ("application/openmetrics-text;version=1.0.0;q=0, */*", .text004),
            ("text/plain;q=0, */*", .openMetrics100), ("text/plain;q=0", .text004),
            ("text/plain;q=0.4,application/openmetrics-text;version=1.0.0;q=0.4", .text004),
            ("application/vnd.google.protobuf", .text004),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text,text/plain;q=0.1",
                .text004
            ),
            ("text/plain;q=\"0.5\",application/openmetrics-text;q=0.4", .text004),
            ("text/plain;q=x,application/openmetrics-text;version=1.0.0;q=0.1", .openMetrics100),
        ] as [(String?, ExpositionFormat)])
    func `A scrape gets the format that the scraper prefers`(_ accept: String?, _ format: ExpositionFormat) {
        #expect(AcceptedFormat.negotiate(accept).format == format)
    }

    @Test(
        arguments: [
            ("text/plain", "text/plain; version=0.0.4; charset=utf-8"),
            ("text/plain;escaping=underscores", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"),
            ("text/plain;escaping=bogus", "text/plain; version=0.0.4; charset=utf-8"),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8",
                "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
            ),
        ])
    func `The content type of a scrape names its format`(_ accept: String, _ contentType: String) {
        #expect(AcceptedFormat.negotiate(accept).contentType == contentType)
    }
}
