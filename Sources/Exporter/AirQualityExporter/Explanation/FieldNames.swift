import Bytes

/// The meaning of the names of fields, as feeds use them.
enum FieldNames {
    /// Lower-case letters and digits alone: `AQI_US` is `aqius`.
    static func plain(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    private static let indices = ["aqi", "airqualityindex", "airindex", "pollutionindex", "luftindex", "luftquali"]

    /// Whether the name is that of an index of the air.
    static func isIndex(_ name: String) -> Bool {
        let name = plain(name)
        return indices.contains { name.contains($0) } && !isOtherQuantity(name)
    }

    private static let standards: Set = [
        "", "us", "usa", "epa", "usepa", "in", "india", "cpcb", "cn", "china", "eu", "uk", "value", "overall",
        "current",
        "index", "now", "n", "u", "c", "i",
    ]

    /// Whether a text says what a value beside it is: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        guard text.count <= 24, let word = indices.first(where: { text.contains($0) }) else { return false }
        return standards.contains(text.replacing(word, with: "", maxReplacements: 1))
    }

    /// Whether the name is that of something about the air, in which a value may be the index.
    static func isAir(_ name: String) -> Bool {
        let name = plain(name)
        return isIndex(name) || ["airqual", "pollution", "luft"].contains { name.contains($0) } || name == "aq"
    }

    private static let values: Set = [
        "value", "val", "v", "state", "reading", "score", "measurement", "payload", "result", "level", "current", "now",
        "avg", "mean", "average", "y", "index", "idx", "last", "latest", "nativevalue", "data", "overall", "total",
        "airquality", "quality", "us", "india", "in", "number", "amount", "points", "vals", "values", "readings",
    ]

    static func isValue(_ name: String) -> Bool { values.contains(plain(name)) }

    private static let quantities = [
        "pm1", "pm25", "pm10", "pm2", "no2", "so2", "o3", "ozone", "nh3", "co2", "voc", "temp", "humid", "press",
        "wind",
        "noise", "batter", "rssi", "lat", "lon", "lng", "alt", "timestamp", "elev", "rank", "uvi", "dew", "rain",
        "updated", "expires", "threshold", "version", "uptime",
    ]
    private static let otherTimes = ["forecast", "predict", "tomorrow", "history", "yesterday", "previous"]
    private static let exactQuantities: Set = [
        "co", "t", "h", "p", "w", "ts", "time", "date", "id", "uid", "seq", "count", "code", "status", "page", "year",
        "month", "day", "hour", "minute", "total", "size", "length", "offset", "no", "hum", "rh", "min", "max", "limit",
        "nonce", "retry", "interval", "ref", "joinref", "epoch", "population", "zip", "pin", "x", "z", "bc",
    ]

    /// Whether the name is that of something else that is a number.
    static func isOtherQuantity(_ name: String) -> Bool {
        let name = plain(name)
        return exactQuantities.contains(name) || quantities.contains { name.hasPrefix($0) }
    }

    /// Whether the name says that what is in it is not of now.
    static func isOtherTime(_ name: String) -> Bool {
        let name = plain(name)
        return otherTimes.contains { name.hasPrefix($0) }
    }

    private static let structures: Set = [
        "data", "payload", "result", "results", "message", "body", "readings", "stations", "features", "cities",
        "values", "items", "list", "records", "response", "event", "properties", "measurements", "sensors", "current",
        "latest", "content", "params", "attributes", "fields", "tags", "metrics", "observations", "obs", "rows",
        "update",
        "updates", "msg", "args", "newstate", "geometry", "meta", "air", "iaqi", "value", "metric", "series", "place",
        "city", "station", "location", "site", "old", "new", "feed", "air_quality", "states", "countries", "regions",
    ]

    /// Whether the name can be that of a place: nothing else that names of fields say.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        return !plain.isEmpty && !structures.contains(plain) && !isIndex(name) && !isOtherQuantity(name)
            && !values.contains(plain) && placeRank(name) == nil
    }

    private static let places = [
        "city", "cityname", "stationname", "locationname", "sitename", "placename", "friendlyname", "station",
        "location", "place", "site", "town", "municipality", "name", "label", "title", "displayname", "area",
        "district",
        "region", "zone", "ville", "ciudad", "stadt", "cidade", "ort", "nombre", "nom", "cities", "stations",
        "locations", "places", "names", "labels", "legend", "entityid", "deviceid", "sensorid", "stationid", "device",
        "sensor", "node", "uid", "id", "key", "code", "slug", "source", "subject", "topic", "bn", "n", "c", "s",
        "state",
        "country",
    ]

    /// How well the name is one of a place's name; 0 is best, `nil` not at all.
    static func placeRank(_ name: String) -> Int? {
        let name = plain(name)
        if let rank = places.firstIndex(of: name) { return rank }
        return ["city", "station", "location", "site", "name", "town"].contains { name.contains($0) } ? 12 : nil
    }

    private static let kinds: Set = [
        "type", "event", "action", "op", "kind", "msgtype", "messagetype", "channel", "method", "eventtype", "cmd",
        "command", "msg", "t", "e", "stream",
    ]

    /// Whether the field of a message says of what sort the message is.
    static func isKind(_ name: String) -> Bool { kinds.contains(plain(name)) }

    private static let otherTexts: Set = [
        "category", "status", "unit", "units", "quality", "level", "color", "colour", "dominant", "dominentpol",
        "dominantpollutant", "advice", "description", "main", "mainus", "maincn", "pollutant", "parameter", "provider",
        "attribution", "timezone", "tz", "icon", "version", "jsonrpc", "specversion", "scale", "standard", "quantity",
        "time", "timestamp", "date", "updated", "lastupdated", "comment", "note", "health", "band",
    ]

    /// Whether the field's text is something else than a name.
    static func isOtherText(_ name: String) -> Bool { otherTexts.contains(plain(name)) || isKind(name) }

    /// Whether the text can be a place's name: letters in it, no time, no address.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://")
    }
}
