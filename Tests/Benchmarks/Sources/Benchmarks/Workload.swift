import AirQuality
import Bytes
import Exposition

/// A store with cities, and messages for it as a feed sends them.
struct Workload: ~Copyable {
    let store: ReadingStore
    var decoder: FeedDecoder
    let exposition: Exposition
    private var page: [UInt8] = []
    let messages: [[UInt8]]
    let readingCount: Int
    private var time: Timestamp = 1_795_236_585_252
    private var next = 0

    /// - Parameters:
    ///   - cities: the number of cities.
    ///   - batch: the number of cities in a message.
    ///   - messages: the number of different messages, which name cities in random order.
    init(cities: Int, batch: Int, messages count: Int, spelling: Spelling = .usual) {
        var random = SplitMix64(state: 1)
        let batch = min(batch, cities)
        messages = (0..<count).map { _ in
            let elements = (0..<batch).map { _ in
                let city = Int.random(in: 0..<cities, using: &random)
                let aqi = Double(Int.random(in: 0..<5_000_000, using: &random)) / 10_000
                switch spelling {
                case .usual, .unread: return #"{"city":"\#(Self.name(city))","aqi":\#(aqi)}"#
                case .beyondASCII:
                    let name = city % 7 == 3 ? #"N\u0101gpur \"\#(city)\""# : "Nāgpur नगर \(city)"
                    return #"{"city":"\#(name)","aqi":\#(aqi)}"#
                case .rare: return #" {"unit": null, "aqi": \#(aqi)e0, "city": "\u0020\#(Self.name(city))"}"#
                }
            }
            let array = "[\(elements.joined(separator: ","))]"
            return Array((spelling == .unread ? #"{"type":"heartbeat","data":\#(array)}"# : array).utf8)
        }
        readingCount = batch * count
        let rules = StoreRules(cityLimit: 2_000_000)
        store = ReadingStore(rules: rules, feeds: ["ws://127.0.0.1/"], at: time)
        decoder = FeedDecoder(format: FeedFormat())
        exposition = Exposition()
        for start in stride(from: 0, to: cities, by: 1000) {
            let elements = (start..<min(cities, start + 1000)).map {
                #"{"city":"\#(Self.name($0))","aqi":\#(50 + $0 % 400)}"#
            }
            record(Array("[\(elements.joined(separator: ","))]".utf8))
        }
    }

    static func name(_ city: Int) -> String {
        "Nagar \(city &* 2_654_435_761 & 0xFFFF_FFFF)"
    }

    mutating func record(_ message: [UInt8]) {
        time += 1
        let decoded = decoder.decode(message.span, receivedAt: time)
        decoder.recycle(store.record(decoded, feed: 0))
    }

    mutating func decodeAll() {
        for message in messages { _ = decoder.decode(message.span, receivedAt: time) }
    }

    /// Records all messages once.
    mutating func recordAll() {
        for message in messages { record(message) }
    }

    mutating func recordNext(_ count: Int) {
        for _ in 0..<count {
            record(messages[next])
            next = (next + 1) % messages.count
        }
    }

    /// - Returns: the number of bytes of the page.
    mutating func render() -> Int {
        page.removeAll(keepingCapacity: true)
        exposition.render(store.snapshot(), in: .text004, to: &page)
        return page.count
    }

    /// - Returns: the number of bytes of the document.
    func history() -> Int {
        HistoryDocument(store.snapshot(withHistories: true), query: HistoryQuery()).render().count
    }
}

/// How the messages are spelled.
enum Spelling {
    case usual
    /// Names beyond ASCII, some with escapes.
    case beyondASCII
    /// Valid JSON that hardly any feed sends: other members first, white space, an exponent, an escape.
    case rare
    /// In an object, which has no reading by the default flags.
    case unread
}

struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
