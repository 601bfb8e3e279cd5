import HTTPText
import Testing

@testable import HTTPServer

@Suite struct HTTPFramingTests {
    /// Fields, and the status of the rejection or whether there is content.
    @Test(
        arguments: [
            (["Host": "a, b"], 400, false), (["Host": "x", "A b": "c"], 400, false),
            (["Host": "x", "A": "b\u{1}"], 400, false), (["Host": ""], nil, false),
            (["HOST": "x", "Hosts": "y", "Ghost": "z"], nil, false), ([:], 400, false),
            (["Host": "x", "host": "x"], 400, false), (["Host": "x", "Content-Length": "0"], nil, false),
            (["Host": "x", "content-LENGTH": "00 \t"], nil, false), (["Host": "x", "Content-Length": "1"], nil, true),
            (["Host": "x", "Content-Length": "0010  "], nil, true),
            (["Host": "x", "Content-Length": String(repeating: "9", count: 99)], nil, true),
            (["Host": "x", "Content-Length": "0", "content-length": "0"], 400, false),
            (["Host": "x", "Transfer-Encoding": "chunked"], 411, false),
            (["Host": "x", "TRANSFER-encoding": ""], 411, false),
            (["Host": "x", "Transfer-Encoding": "chunked", "Content-Length": "0"], 400, false),
        ] as [(KeyValuePairs<String, String>, Int?, Bool)])
    func `A header tells if content follows`(fields: KeyValuePairs<String, String>, status: Int?, hasContent: Bool) {
        do throws(HTTPResponse.Rejection) {
            let fields = fields.map { HTTPField(name: $0.key, value: $0.value) }
            #expect(try fields.hasContent(needsHost: true) == hasContent && status == nil)
        } catch {
            #expect(error.response.status == status)
        }
    }

    @Test(arguments: ["", " ", "-1", "+1", "0x1", "1 1", "1.0", "1,1", "٣"])
    func `A Content-Length that is not a number is rejected`(length: String) {
        `A header tells if content follows`(
            fields: ["Host": "x", "Content-Length": length], status: 400, hasContent: false)
    }

    @Test(arguments: [
        ("", true), ("localhost", true), ("localhost:80", true), ("localhost:", true), ("[::1]:80", true),
        ("[fe80::1%25eth0]", true), ("10.0.0.1:99999", true), ("a%41_~", true), (" x:1 ", true),
        ("localhost:http", false), ("localhost:80:81", false), ("localhost:8o", false), ("::1", false), ("[::1", false),
        ("[::1]80", false), ("[x]", false), ("[]", false), ("a]b", false), ("a,b", false), ("u@a", false),
        ("a%4", false), ("a b", false), ("a/b", false), ("é", false), ("localhost:-1", false),
    ])
    func `A Host is a host, and a port of digits if it has one`(host: String, isValid: Bool) {
        #expect(((try? [HTTPField(name: "Host", value: host)].hasContent(needsHost: true)) != nil) == isValid)
    }
}
