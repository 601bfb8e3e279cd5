import Testing

@testable import Bytes

struct QuotingTests {
    @Test(arguments: [
        ("plain", #""plain""#),
        ("", #""""#),
        ("a\"b\\c", #""a\"b\\c""#),
        ("a\r\n\tb\u{1B}[0m\u{2028}", #""a\r\n\tb\u{1B}[0m\u{2028}""#),
        ("\u{0}\u{7F}\u{85}\u{2029}", #""\u{0}\u{7F}\u{85}\u{2029}""#),
        ("दिल्ली", #""दिल्ली""#),
    ])
    func `A quoted text is escaped so that it stays on one line`(text: String, shown: String) {
        #expect(quoted(text) == shown)
    }

    @Test func `A long quoted text is truncated with an ellipsis`() {
        #expect(quoted(String(repeating: "x", count: 200)) == "\"" + String(repeating: "x", count: 200) + "\"")
        #expect(quoted(String(repeating: "x", count: 201)) == "\"" + String(repeating: "x", count: 200) + "…\"")
        #expect(quoted("abc", limit: 2) == #""ab…""#)
    }

    @Test(arguments: [
        ("a\r\nb\u{85}c\u{0}d", "a  b c d"), ("a\u{2028}b", "a b"), ("a\u{202E}b\u{2066}c\u{61C}", "a b c "),
        ("é 😀", "é 😀"),
    ])
    func `Control characters are replaced with spaces on one line`(text: String, line: String) {
        #expect(onOneLine(text) == line)
    }

    @Test(arguments: [
        ("ws://host:80/path", "ws://host:80/path"),
        ("ws://me@host", "ws://***@host"),
        ("wss://me:p@w@host/a", "wss://***@host/a"),
        ("ws://me:pa/ss@host/", "ws://***"), ("ws:///me:pass@host/", "ws://***"), ("//me:pass@host/", "***"),
        ("ws://me:pa?ss@host/", "ws://***"),
        ("ws://me:pa#ss@host/", "ws://***"),
        ("ws://me@corp.example:pa/ss@host/", "ws://***"), ("wss//me:pass@host/", "***"), ("me/x:pass@host", "***"),
        ("ws://host?token=1#x", "ws://host?***"),
        ("ws://host/a#frag", "ws://host/a#***"),
        ("me:pw@host", "***@host"),
        ("ws://me:pw@\u{301}host/", "ws://***@\u{301}host/"),
        ("ws:/\u{301}/me:pw/\u{301}@host", "***"),
        ("ws://host?\u{301}token=1", "ws://host?***"),
        ("host/?mail=a@b", "***"),
        ("ws://h/key-0123456789ab/live", "ws://h/…/live"),
        ("/key0123456789abc/?a", "/…/?***"),
        ("ws://h/0123456789abcdef?key#x", "ws://h/…?***"),
        ("ws://h/k3y/without-a-digit/0123456789012345", "ws://h/k3y/without-a-digit/0123456789012345"),
        ("ws://", "ws://"),
        ("", ""),
    ])
    func `Credentials, query, fragment and keys in the path of an address are masked`(address: String, shown: String) {
        #expect(masked(address: address) == shown)
    }

    @Test(arguments: [
        ("no a/b=c= here", "no a/b=c= here"), ("no Key-1+a/b== here", "no *** here"), ("Key-1%2Ba%2Fb%3D%3D", "***"),
        ("Key-1+a/b==\u{301}", "***\u{301}"), ("%4Bey-1+a/b==\u{301}", "***\u{301}"),
        ("x=%4Bey-1%2Ba/b==&y", "x=***&y"), ("key-1+a/b==", "key-1+a/b=="), ("%Key-1+a/b==%2", "%***%2"), ("", ""),
    ])
    func `A secret is masked even if it is percent-encoded`(text: String, shown: String) {
        #expect(masked(text, secret: "Key-1+a/b==") == shown)
    }

    @Test(
        arguments: [
            ("", #""""#), ("Pune", #""Pune""#), (#"a"b\c"#, #""a\"b\\c""#), ("\n\u{1F}\u{0}", #""\u000a\u001f\u0000""#),
            ("\u{7F}\u{85}\u{2028}é€😀/", "\"\u{7F}\u{85}\u{2028}é€😀/\""),
        ])
    func `JSON strings escape only what RFC 8259 requires`(_ text: String, expected: String) {
        var bytes: [UInt8] = []
        bytes.appendJSONString(text.utf8.span)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
}
