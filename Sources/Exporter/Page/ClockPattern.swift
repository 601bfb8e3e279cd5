import AirQuality
import Bytes

/// The form of a displayed time. page.js writes the same forms in the reader's time zone.
enum ClockPattern: String {
    /// 04:49:45
    case seconds
    /// 04:49
    case time
    /// 21 Nov 04:49
    case date
    /// 21 Nov 2026 04:49
    case year

    /// Selects the pattern for times that are shown together, `span` milliseconds apart.
    init(span: Int64) {
        switch span {
        case ..<600_000: self = .seconds
        // Fits the range of 24 h with its margin.
        case ...90_000_000: self = .time
        case ..<26_000_000_000: self = .date
        default: self = .year
        }
    }

    /// Returns the time in UTC.
    func text(of time: Timestamp) -> String {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        // 2026-11-21T04:49:45.252Z
        func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = "\(Int(part(8..<10)) ?? 0) \(months[(Int(part(5..<7)) ?? 1) - 1])"
        return switch self {
        case .seconds: part(11..<19)
        case .time: part(11..<16)
        case .date: "\(day) \(part(11..<16))"
        case .year: "\(day) \(part(0..<4)) \(part(11..<16))"
        }
    }
}
