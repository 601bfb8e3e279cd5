public import AirQuality
internal import Bytes

/// The value of a sample.
public enum SampleValue: Sendable {
    /// A finite number.
    case number(Double)
    /// A time, shown in seconds with three decimals.
    case time(Timestamp)

    func append(to page: inout [UInt8]) {
        switch self {
        case .number(let number): page.appendNumber(number)
        case .time(let time): page.appendInteger(UInt64(clamping: time), decimals: 3)
        }
    }
}
