internal import JSON
public import System

/// The jq programs of a feed, in one process that starts when one of them is first run. Not thread-safe.
public struct FeedPrograms: ~Copyable {
    private let programs: [JQProgram]
    private let messageBytes: Int
    private let executable: String
    private var process: JQProcess?
    private var reader = JSONReader()
    private var budget = ReplyBudget()

    /// - Parameters:
    ///   - elements: a program that turns a message into elements.
    ///   - replies: a program whose results are sent in response to a message.
    ///   - messageBytes: maximum size of a message.
    public init(
        elements: JQProgram? = nil, replies: JQProgram? = nil, messageBytes: Int,
        executable: String = "/proc/self/exe"
    ) {
        programs = [elements, replies].compactMap(\.self)
        self.messageBytes = messageBytes
        self.executable = executable
    }

    public var hasElements: Bool { index(of: .elements) != nil }

    private func index(of output: JQProgram.Output) -> Int? { programs.firstIndex { $0.output == output } }

    /// Returns the elements of a message as one JSON array; empty if there are none.
    ///
    /// - Parameter message: JSON, or UTF-8 that the program gets as a string.
    public mutating func elements(of message: Span<UInt8>, isJSON: Bool) throws(SystemError) -> [UInt8] {
        guard let index = index(of: .elements) else { return [] }
        try start()
        return try process?.elements(index, of: message, as: isJSON ? .json : .string) ?? []
    }

    /// Returns what to send when a connection begins.
    ///
    /// - Parameter now: monotonic time.
    public mutating func greeting(at now: Duration) -> FeedReplies {
        budget = ReplyBudget()
        return reply(to: Span(), as: .null, at: now)
    }

    /// Returns what to send in response to a message. The program does not get one that is not UTF-8.
    ///
    /// - Parameter now: monotonic time.
    public mutating func replies(to message: Span<UInt8>, at now: Duration) -> FeedReplies {
        guard index(of: .texts) != nil else { return FeedReplies() }
        let content = inTurn(message.count) {
            defer { reader.forget() }
            return reader.content(of: message)
        }
        return switch content {
        case .invalidUTF8: FeedReplies()
        case .blank, .text: reply(to: message, as: .string, at: now)
        case .json(_, let replacement?): reply(to: replacement.span, as: .json, at: now)
        case .json(_, nil): reply(to: message, as: .json, at: now)
        }
    }

    private mutating func reply(to message: Span<UInt8>, as input: JQProgram.Input, at now: Duration) -> FeedReplies {
        guard let index = index(of: .texts) else { return FeedReplies() }
        guard budget.isLeft(at: now) else { return FeedReplies(problem: .tooMany) }
        do throws(SystemError) {
            try start()
            let texts = try process?.texts(index, for: message, as: input) ?? []
            return budget.spend(texts, at: now) ? FeedReplies(texts: texts) : FeedReplies(problem: .tooMany)
        } catch {
            // Where jq quotes a value, that may be one that is sent.
            let words = error.reason.prefix { $0 != "\"" && $0 != "(" }
            return FeedReplies(problem: .failed(words + (words.count < error.reason.count ? "…" : "")))
        }
    }

    private mutating func start() throws(SystemError) {
        guard process == nil else { return }
        process = try JQProcess(programs, messageBytes: messageBytes, executable: executable)
    }
}

/// The texts to send to a feed's server.
public struct FeedReplies: Sendable, Equatable {
    public enum Problem: Sendable, Hashable, CustomStringConvertible {
        /// The program's error message, without values.
        case failed(String)
        case tooMany

        /// Human-readable, one line.
        public var description: String {
            switch self {
            case .failed(let reason): reason
            case .tooMany:
                "more than \(ReplyBudget.maximumTexts) texts or \(ReplyBudget.maximumBytes >> 20) MiB in a minute"
            }
        }
    }

    public var texts: [[UInt8]] = []
    /// Why nothing is sent.
    public var problem: Problem?
}
