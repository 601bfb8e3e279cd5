import Bytes

/// The meaning of the names of fields, as feeds use them.
enum FieldNames {
    /// Lower-case letters and digits alone: `AQI_US` is `aqius`. Empty for a long name.
    private static func plain(_ name: String) -> String {
        if name.utf8.count > 128 { return "" }
        let scalars = name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    // MARK: Values

    private static let indices = words("aqi airqualityindex airindex pollutionindex luftindex luftquali")
    private static let otherIndices = Set(words("ica iqa icca ika caqi"))
    private static let airs = words("airqual pollution luft")
    private static let standards = Set(
        [""] + words("us usa epa usepa in india cpcb cn china eu uk value overall current index now n u c i"))
    private static let values = Set(
        words(
            """
            value val v state reading score measurement payload result level current now avg mean average y index idx \
            last latest nativevalue data overall total airquality quality number amount points vals values readings
            """))
    /// Beginnings of names of other quantities.
    private static let quantities = words(
        """
        pm1 pm25 pm10 pm2 no2 so2 o3 ozone nh3 co2 voc temperature humid pressure windsp winddir noise batter rssi \
        latitude longitude altitude elevation timestamp rank uvi dewpoint rainfall updated expires threshold version \
        uptime pageno pagesize heatindex
        """)
    private static let wholeQuantities = Set(
        words(
            """
            co t h p w ts time date id uid seq code status year month day hour minute total size length offset no hum \
            rh min max limit nonce retry interval ref joinref epoch population zip pin x z bc lat lon lng alt temp \
            wind rain press page jsonrpc specversion
            """))

    private static let otherTimes = words("forecast predict tomorrow history yesterday previous")

    /// Whether the name is that of an index of the air.
    static func isIndex(_ name: String) -> Bool {
        let name = plain(name)
        return (indices.contains { name.contains($0) } && !isOtherQuantity(name)) || otherIndices.contains(name)
    }

    /// Whether a text says what a value beside it is: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        guard text.count <= 24, let word = indices.first(where: { text.contains($0) }) else { return false }
        return standards.contains(text.replacing(word, with: "", maxReplacements: 1))
    }

    /// Whether the name can be that of an index where others say so.
    private static func isValue(_ name: String) -> Bool {
        let name = plain(name)
        return values.contains(name) || name.hasSuffix("value") || name.hasSuffix("index")
    }

    /// Whether the name is that of something else that is a number.
    private static func isOtherQuantity(_ name: String) -> Bool {
        let name = plain(name)
        return wholeQuantities.contains(name) || quantities.contains { name.hasPrefix($0) } || name.hasSuffix("count")
    }

    /// Whether the name says that what is in it is not of now.
    static func isOtherTime(_ name: String) -> Bool {
        let name = plain(name)
        return otherTimes.contains(where: name.hasPrefix) || ["old", "oldstate", "before"].contains(name)
    }

    /// How much the names of a number say that it is an index, up to 100, and whether a text beside it had to say so
    /// too; `nil`: it is something else.
    ///
    /// - Parameters:
    ///   - names: those of the fields on the way to it, the nearest first.
    ///   - isSigned: whether there is such a text.
    static func indexScore(_ names: [String], isSigned: Bool) -> (score: Int, needsSign: Bool)? {
        guard let name = names.first else { return (5, false) }
        let outer = names.dropFirst().first ?? ""
        // The United States' standard is the commonest of several.
        if isIndex(name) { return (plain(name) == "aqi" || plain(name).contains("us") ? 100 : 98, false) }
        if isOtherQuantity(name) { return nil }
        if isValue(name) {
            if isSigned { return (92, true) }
            return (isIndex(outer) || airs.contains(where: plain(outer).contains) ? 95 : 40, false)
        }
        if isSigned { return (60, true) }
        return (names.dropFirst().prefix(2).contains(where: isIndex) ? 80 : 5, false)
    }

    // MARK: Places

    /// Names of a place's name, the likeliest ones first.
    private static let places: [Set<String>] = [
        Set(words("city cityname stationname locationname sitename placename friendlyname town municipality")),
        Set(words("station location place site name displayname ville ciudad stadt cidade ort nombre nom cities")),
        Set(words("area district region zone label title stations locations places names labels legend")),
        Set(words("entityid deviceid sensorid stationid device sensor node subject topic bn slug")),
        Set(words("uid id key code n c s state country")),
    ]
    private static let placeWords = words("city station location site name town area")
    private static let otherTexts = words(
        """
        category status unit quality level color colour dominant dominent advice description main pollutant parameter \
        provider attribution timezone tz icon version jsonrpc specversion scale standard quantity time date updated \
        lastupdated comment note health band local error reason
        """)
    private static let topics = words("topic channel stream subject path subscription")
    private static let kinds = words(
        "type event action op kind msgtype messagetype channel method eventtype cmd command msg t e stream")
    private static let structures = Set(
        words(
            """
            data payload result results message body readings stations features cities values items list records \
            response event properties measurements sensors current latest content params attributes fields tags \
            metrics observations obs rows update updates msg args newstate geometry meta air iaqi value metric series \
            place city station location site old new feed airquality states countries regions datasets batch main \
            components pollutants concentrations coord coordinates details info summary hourly daily position
            """))

    /// How little the name is one of a place's name, from 0; `nil`: it is something else.
    static func placeRank(_ name: String) -> Int? {
        let name = plain(name)
        if let tier = places.firstIndex(where: { $0.contains(name) }) { return tier * 10 }
        if isOtherText(name) { return nil }
        return placeWords.contains { name.contains($0) } ? 12 : nil
    }

    /// Whether the field of a message says of what sort the message is.
    static func isKind(_ name: String) -> Bool { kinds.contains(plain(name)) }

    /// Whether the field's text may be a path with a place in it.
    static func isTopic(_ name: String) -> Bool { topics.contains(plain(name)) }

    /// Names of fields with a server's own words: those of an error, those that stand beside readings as well, and
    /// those that have words only where something else says that it is an error.
    private static let wordNames = [
        Set(words("error errors err errormessage errormsg errordescription exception fault")),
        Set(words("message reason detail msg")),
        Set(words("details description title text payload data body response result")),
    ]

    /// How little the field's name says that it has a server's own words, from 0; `nil`: it says something else.
    static func wordsRank(_ name: String) -> Int? {
        let name = plain(name)
        return wordNames.firstIndex { $0.contains(name) }
    }

    /// Whether the field's text is something else than a name.
    static func isOtherText(_ name: String) -> Bool {
        let name = plain(name)
        return isKind(name) || otherTexts.contains { name.hasPrefix($0) }
    }

    /// Whether the name can be that of a place: nothing else that names of fields say.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        return canBeGroup(name) && !(plain.utf8.count < 5 && standards.contains(plain)) && placeRank(name) == nil
    }

    /// Whether the name can be that of a group of places, such as a country's, also where that means a standard.
    static func canBeGroup(_ name: String) -> Bool {
        let plain = plain(name)
        return !plain.isEmpty && !structures.contains(plain) && !isIndex(name) && !isOtherQuantity(name)
            && !values.contains(plain) && !isOtherTime(name)
    }

    /// Whether the text can be a place's name: letters in it, no time, no address.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://") && !saysIndex(text)
    }
}
