import Expectations
import FeedSimulation

@testable import Bytes
@testable import CommandLine
@testable import JSON
@testable import WebConfiguration

/// Checks the input of users: command lines, values of flags, times and recordings. A value that can be written again
/// must be read back as the same.
func checkValues(_ input: [UInt8]) {
    check(input, withOneOf: checks)
}

private let checks: [Check] = [
    pointer, goDuration, prometheusDuration, numbers, feedTime, recording, commandLine,
]

@Sendable private func pointer(_: [UInt8], _ text: String) {
    guard let pointer = jsonPointer(text) else { return }
    // By bytes, because a combining mark after a slash makes it another character.
    let again = pointer.flatMap { token in
        Array("/".utf8)
            + token.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "~"): Array("~0".utf8)
                case UInt8(ascii: "/"): Array("~1".utf8)
                default: [byte]
                }
            }
    }
    expect(again.elementsEqual(text.utf8), "\(text) and \(again)")
}

@Sendable private func goDuration(_: [UInt8], _ text: String) {
    guard let nanoseconds = parseGoDuration(text) else { return }
    expect(parseGoDuration("\(nanoseconds)ns") == nanoseconds, "\(text) is \(nanoseconds)")
}

@Sendable private func prometheusDuration(_: [UInt8], _ text: String) {
    guard let duration = ValueFormat.duration().parse(text) else { return }
    expect(ValueFormat.duration().parse(duration.prometheusText) == duration, "\(text) is \(duration.prometheusText)")
}

@Sendable private func numbers(_: [UInt8], _ text: String) {
    _ = ValueFormat<Int>.integer(in: 0...7).parse(text)
    _ = ValueFormat<Int>.bytes(in: 0...7).parse(text)
    _ = ValueFormat<UInt64>.integer(in: 0 ... .max).parse(text)
    _ = ValueFormat<Double>.number(in: 0...7).parse(text)
}

@Sendable private func feedTime(_ bytes: [UInt8], _: String) {
    guard let time = parseRFC3339(bytes.span), (0...253_402_300_799_999).contains(time) else { return }
    var text: [UInt8] = []
    text.appendRFC3339(time)
    expect(parseRFC3339(text.span) == time, "\(time) is \(String(decoding: text, as: UTF8.self))")
}

@Sendable private func recording(_ bytes: [UInt8], _: String) {
    do throws(RecordingError) {
        let recording = try Recording(bytes)
        for (step, message) in recording.messages.enumerated() {
            expect(String(validating: message, as: UTF8.self) != nil, "UTF-8 of message \(step)")
            expect(recording.gap(before: step) ?? .zero >= .zero, "a negative gap")
        }
    } catch {
        expectOneLine(error.description)
    }
}

@Sendable private func commandLine(_ bytes: [UInt8], _: String) {
    let arguments = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    do throws(FlagError) {
        if case .run(let flags) = try program.parse(
            arguments: arguments, environment: arguments.last.map { ["PROGRAM_FEED_URL": $0] } ?? [:]),
            flags.command.name.isEmpty
        {
            _ = try flags.options(RunOptions.self)
        }
    } catch {
        expectOneLine(error.line)
    }
}

private let program = Program(
    name: "program", summary: "a program",
    commands: [
        Command(summary: "runs", options: RunOptions.self),
        Command(name: "replay", summary: "replays", operands: ["FILE"], options: ReplayOptions.self),
    ])

private struct RunOptions: Options {
    var urls: [String] = []
    var header: String?
    var limit = 7
    var isQuiet = false

    static let flags: [Flag<Self>] = [
        Flag("feed.url", \.urls, .text, secrecy: .address, "where from"),
        Flag("feed.header", \.header, .text, secrecy: .whole, "sent"),
        Flag("limit", \.limit, .integer(in: 0...7), "how many"),
        Flag("quiet", \.isQuiet, "says less"),
    ]
}

private struct ReplayOptions: Options {
    static let flags: [Flag<Self>] = []
}
