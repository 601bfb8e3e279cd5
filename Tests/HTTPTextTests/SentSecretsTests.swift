import HTTPText
import Testing

struct SentSecretsTests {
    private let secrets = SentSecrets(
        values: ["Bearer header-secret", "a=1; session=cookie-secret"],
        target: "/0f1e2d3c4b5a6978/feed?key=query%2Fsecret&x=1",
        messages: [#"{"action":"subscribe","token":"0123456789abcdef"}"#], key: "abc12")

    @Test(
        arguments: [
            ("bad token header-secret", "bad token ***"), ("Bearer header-secret", "***"),
            ("cookie-secret expired", "*** expired"), ("query/secret, query%2Fsecret", "***, ***"),
            (#"no {"action":"subscribe","token":"0123456789abcdef"}"#, "no ***"),
            ("subscribe: bad 0123456789abcdef", "subscribe: bad ***"), ("Bearer 1", "Bearer 1"), ("", ""),
            ("GET /0f1e2d3c4b5a6978/feed", "GET /***/feed"), ("bad abc12", "bad ***"),
            ("bad header-sec…", "bad ***…"), ("bad h…", "bad h…"),
        ])
    func `What a server repeats of secrets is masked`(_ line: String, _ masked: String) {
        #expect(secrets.masked(in: line) == masked)
    }
}
