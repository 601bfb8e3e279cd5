import AirQuality
import Bytes
import CommandLine
import JSON
import System
import WebSocket

extension Logger.Metadata {
    /// What people are told of refused readings, in the log and elsewhere.
    init(_ reason: RefusalReason, of connection: FeedStatistics.Connection) {
        let element = connection.refused.first { $0.reason == reason }
        self = [
            "reason": reason.rawValue, "refused": "\(connection.refusals[reason])",
            "accepted": "\(connection.readings)",
        ]
        if let members = element?.shape.members, !members.isEmpty {
            self["members"] = onOneLine(members.joined(separator: ","))
        }
        let hint = reason.hint(element)
        if !hint.isEmpty { self["hint"] = hint }
    }
}

extension RefusalReason {
    /// The flags that would read what was refused, as far as flags can.
    fileprivate func hint(_ element: RefusedElement?) -> String {
        let items = Configuration.flag(\.items)
        if let element, element.lacksCity, !element.shape.items.isEmpty {
            // People copy it into a shell, and the feed has written it.
            let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
            let isPlain = element.shape.items.utf8.allSatisfy {
                letters.contains($0 | 0x20) || isDigit($0) || "/_-.".utf8.contains($0)
            }
            return isPlain ? "\(items) \(element.shape.items)" : items
        }
        let (city, value) = (Configuration.flag(\.cityField), Configuration.flag(\.valueField))
        return switch self {
        case .notAnArray, .notAnObject: items
        case .noCity where element?.lacksCity == false, .noValue where element?.lacksValue == false: ""
        case .noCity, .badCity: element?.lacksValue == true ? "\(city), \(value)" : city
        case .noValue, .badValue: value
        case .badTime: Configuration.flag(\.timeField)
        case .tooLarge: Configuration.flag(\.feed.maximumMessageBytes)
        case .cityLimit: Configuration.flag(\.cityLimit)
        case .notText, .notJSON, .outOfRange: ""
        }
    }
}
