import TestSupport
import Testing

@testable import JQ

struct FeedProgramsTests {
    /// A budget, spent on texts of one size at a time.
    private final class Spender {
        private var budget = ReplyBudget()

        func spend(_ count: Int, bytes: Int = 1, at seconds: Double) -> Bool {
            budget.spend(Array(repeating: Array(repeating: 0x61, count: bytes), count: count), at: .seconds(seconds))
        }
    }

    @Test func `Six hundred texts are sent within any minute`() {
        let budget = Spender()
        for second in 0..<37 { #expect(budget.spend(16, at: Double(second))) }
        #expect(!budget.spend(9, at: 59))
        #expect(budget.spend(8, at: 59))
        #expect(!budget.spend(1, at: 59.999))
        #expect(budget.spend(16, at: 60))
        #expect(!budget.spend(1, at: 60.999))
        #expect(budget.spend(1, at: 61))
    }

    @Test func `A MiB is sent within any minute, and nothing of what is too much`() {
        let budget = Spender()
        for _ in 0..<15 { #expect(budget.spend(1, bytes: 64 << 10, at: 0)) }
        #expect(!budget.spend(2, bytes: 33 << 10, at: 1))
        #expect(budget.spend(2, bytes: 32 << 10, at: 1))
        #expect(!budget.spend(1, at: 2))
        #expect(budget.spend(15, bytes: 64 << 10, at: 60))
    }

    private func programs(_ replies: String?, elements: String? = nil) throws -> FeedPrograms {
        FeedPrograms(
            elements: elements.map { JQProgram($0) }, replies: replies.map { JQProgram($0, output: .texts) },
            messageBytes: 1 << 20, executable: try builtProgram("air-quality-exporter"))
    }

    @Test(
        arguments: [
            ("2", ["2"]), ("\u{FEFF}2", ["2"]), ("null", []), ("NaN", []), ("[NaN]", ["[null]"]), ("", [#""""#]),
            ("\n", [#""\n""#]), ("0{\"sid\":1}", [#""0{\"sid\":1}""#]), ("\u{FEFF}a", [#""a""#]),
            ("1\u{1E}2", ["1", "2"]),
            ("\"null\"", [#""null""#]), (#"{"a":1}"#, [#"{"a":1}"#]),
        ] as [(String, [String])])
    func `The program of the replies gets each message that is UTF-8`(message: String, inputs: [String]) throws {
        var programs = try programs("tojson")
        let replies = programs.replies(to: Array(message.utf8).span, at: .zero)
        #expect(replies == FeedReplies(texts: inputs.map { Array($0.utf8) }))
    }

    @Test func `A connection begins with null, and with a new budget`() throws {
        var programs = try programs("if . == null then range(16) | \"a\" else \"b\" end", elements: ".")
        var greetings: [Int] = []
        for _ in 0..<40 { greetings.append(programs.greeting(at: .zero).texts.count) }
        #expect(greetings == Array(repeating: 16, count: 40))
        let message = Array("1".utf8)
        var count = 0
        for _ in 16..<600 { count += programs.replies(to: message.span, at: .zero).texts.count }
        #expect(count == 584)
        let beyond = programs.replies(to: message.span, at: .zero)
        #expect(beyond == FeedReplies(problem: .tooMany))
        let unreadable = programs.replies(to: [0xFF].span, at: .seconds(60))
        #expect(unreadable == FeedReplies())
        let later = programs.replies(to: message.span, at: .seconds(60))
        #expect(later.texts.count == 1)
        let elements = try programs.elements(of: Array("[7]".utf8).span, isJSON: true)
        #expect(elements == Array("[7]".utf8))
    }

    @Test(
        arguments: [
            (#""secret" | tonumber"#, "secret"), (#"{"secret": 1} + 1"#, "secret"), (#""a" + 1"#, "\"a\""),
            (#"."secret""#, "secret"),
        ])
    func `An error names no value, which may be one that is sent`(program: String, value: String) throws {
        var programs = try programs(program)
        let replies = programs.replies(to: Array("1".utf8).span, at: .zero)
        guard case .failed(let reason)? = replies.problem else {
            Issue.record("\(replies)")
            return
        }
        #expect(!reason.contains(value) && !reason.isEmpty)
    }

    @Test func `Without a program nothing is started or sent`() throws {
        var programs = FeedPrograms(messageBytes: 1, executable: "/nonexistent")
        let greeting = programs.greeting(at: .zero)
        let replies = programs.replies(to: Array("1".utf8).span, at: .zero)
        #expect(greeting == FeedReplies() && replies == FeedReplies())
    }
}
