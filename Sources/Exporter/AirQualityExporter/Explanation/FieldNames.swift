import Bytes

/// The meaning of the names of fields, as feeds use them.
enum FieldNames {
    /// Lower-case letters and digits alone: `AQI_US` is `aqius`. Empty for a long name.
    private static func plain(_ name: String) -> String {
        if name.utf8.count > 128 { return "" }
        let scalars = name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    // MARK: Values

    private static let indices = words("aqi airqualityindex airindex pollutionindex luftindex luftquali")
    private static let otherIndices = words("ica iqa icca ika caqi")
    private static let airs = words("airqual pollution luft")
    private static let standards = words(
        "us usa epa usepa in india cpcb cn china eu uk value overall current index now n u c i universal is")
    private static let values = words(
        """
        value val v state reading score measurement payload result level current now avg mean average y index idx \
        last latest nativevalue data overall total airquality quality number amount points vals values readings indice
        """)
    private static let pollutants = words("pm1 pm25 pm10 pm2 no2 so2 o3 ozone nh3 co2 voc")
    /// Beginnings of names of other quantities, their ends where they are a number's, and whole names.
    private static let quantities = pollutants.union(
        words(
            """
            temperature humid pressure windsp winddir noise batter rssi latitude longitude altitude elevation \
            timestamp uvi dewpoint rainfall updated expires threshold version uptime pageno pagesize heatindex deg \
            speed gust visibility cloud snow feelslike
            """))
    private static let numberEndings = words("id rank category class level band color timestamp updated time")
    private static let wholeQuantities = words(
        """
        co t h p w ts time date id uid seq code status year month day hour minute total size length offset no hum \
        rh min max limit nonce retry interval ref joinref epoch population zip pin x z bc lat lon lng alt temp \
        wind rain press page jsonrpc specversion rank
        """)
    private static let otherTimes = words("forecast predict tomorrow history yesterday previous")

    private static func namesIndex(_ plain: String) -> Bool { indices.contains { plain.contains($0) } }

    /// Whether the name is that of an index of the air.
    static func isIndex(_ name: String) -> Bool {
        (namesIndex(plain(name)) && !isOtherNumber(name)) || otherIndices.contains(plain(name))
    }

    /// Whether the name is that of air, or of its quality.
    static func isAir(_ name: String) -> Bool { airs.contains(where: plain(name).contains) }

    /// Whether a text says what a value beside it is: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        guard text.count <= 24, let word = indices.first(where: { text.contains($0) }) else { return false }
        return text == word || standards.contains(text.replacing(word, with: "", maxReplacements: 1))
    }

    private static func isOtherQuantity(_ name: String) -> Bool {
        let name = plain(name)
        return wholeQuantities.contains(name) || quantities.contains(where: name.hasPrefix) || name.hasSuffix("count")
    }

    /// Whether the name of a number is that of something else.
    private static func isOtherNumber(_ name: String) -> Bool {
        isOtherQuantity(name) || numberEndings.contains(where: plain(name).hasSuffix)
    }

    /// Whether the name says that what is in it is not of now.
    static func isOtherTime(_ name: String) -> Bool {
        let name = plain(name)
        return otherTimes.contains(where: name.hasPrefix) || ["old", "oldstate", "oldvalue", "before"].contains(name)
    }

    /// How much the names of a number say that it is an index, up to 100, and whether a text beside it had to say so
    /// too; `nil`: it is something else.
    ///
    /// - Parameters:
    ///   - names: those of the fields on the way to it, the nearest first.
    ///   - isSigned: whether there is such a text.
    static func indexScore(_ names: [String], isSigned: Bool) -> (score: Int, needsSign: Bool)? {
        guard let name = names.first.map(plain) else { return (5, false) }
        let outer = names.dropFirst().first ?? ""
        // The United States' standard is the commonest of several.
        let bonus = name == "aqi" || name.contains("us") ? 2 : 0
        if isIndex(name) { return (98 + bonus, false) }
        // The index of a pollutant alone.
        if namesIndex(name), pollutants.contains(where: name.hasPrefix) { return (70, false) }
        if isOtherNumber(name) { return nil }
        if values.contains(name) || name.hasSuffix("value") || name.hasSuffix("index") {
            if isIndex(outer) || isAir(outer) || isAir(name) { return (93 + bonus, false) }
            return isSigned ? (92, true) : (40, false)
        }
        if isSigned { return (60, true) }
        return (names.dropFirst().prefix(2).contains(where: isIndex) ? 80 : 5, false)
    }

    // MARK: Places

    /// Names of a place's name, the likeliest ones first.
    private static let places = [
        words("city cityname stationname locationname sitename placename friendlyname town municipality nomcom"),
        words("station location place site name displayname devicename ville ciudad stadt cidade ort nombre nom"),
        words("area district region zone label title cities stations locations places names labels legend"),
        words("entityid deviceid sensorid stationid device sensor node subject topic bn slug serialno serial mac"),
        words("uid id key code n c s"),
        words("state country"),
    ]
    private static let placeWords = words("city station location site name town area")
    /// Beginnings of names of other texts.
    private static let otherTexts = words(
        """
        category status unit quality level color colour dominant dominent advice description main pollutant parameter \
        provider attribution timezone tz icon version jsonrpc specversion scale standard quantity time date updated \
        lastupdated comment note health band local error reason model firmware manufacturer vendor application \
        tenant deviceprofile gateway project user account owner source libqual
        """)
    private static let topics = words("topic channel stream subject path subscription")
    private static let kinds = words(
        "type event action op kind msgtype messagetype channel method eventtype cmd command msg t e stream target")
    private static let structures = words(
        """
        data payload result results message body readings stations features cities values items list records \
        response event properties measurements sensors current latest content params attributes fields tags \
        metrics observations obs rows update updates msg args arguments newstate geometry meta air iaqi value metric \
        series place city station location site old new feed airquality states countries regions datasets batch main \
        components pollutants concentrations coord coordinates details info summary hourly daily position edges nodes \
        node events telemetry status set get up uplink things twin shadow accepted modified statechanged reported
        """)
    private static let structureEndings = words("payload data message info list ids index value")

    /// How little the name is one of a place's name, from 0; `nil`: it is something else.
    static func placeRank(_ name: String) -> Int? {
        let name = plain(name)
        if let tier = places.firstIndex(where: { $0.contains(name) }) { return tier * 10 }
        if isOtherText(name) || isKind(name) { return nil }
        return placeWords.contains { name.contains($0) } ? 12 : nil
    }

    /// Whether the field of a message says of what sort the message is.
    static func isKind(_ name: String) -> Bool { kinds.contains(plain(name)) }

    /// Whether the field's text may be a path with a place in it.
    static func isTopic(_ name: String) -> Bool { topics.contains(plain(name)) }

    /// Names of fields with a server's own words: those of an error, those that stand beside readings as well, and
    /// those that have words only where something else says that it is an error.
    private static let wordNames = [
        words("error errors err errormessage errormsg errordescription exception fault"),
        words("message reason detail msg"),
        words("details description title text payload data body response result"),
    ]

    /// How little the field's name says that it has a server's own words, from 0; `nil`: it says something else.
    static func wordsRank(_ name: String) -> Int? {
        let name = plain(name)
        return wordNames.firstIndex { $0.contains(name) }
    }

    /// Whether the field's text, and what is in it, is something else than a name.
    static func isOtherText(_ name: String) -> Bool {
        let name = plain(name)
        return otherTexts.contains(where: name.hasPrefix) || (name.hasSuffix("type") && !kinds.contains(name))
    }

    /// Whether the name can be that of a place, or of a group of places: nothing else that names of fields say.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        return canBeGroup(name) && !(plain.utf8.count < 5 && standards.contains(plain)) && placeRank(name) == nil
    }

    /// Whether the name can be that of a group of places, such as a country's, also where that means a standard.
    static func canBeGroup(_ name: String) -> Bool {
        let plain = plain(name)
        return plain.utf8.count > 1 && !structures.contains(plain) && !isIndex(name) && !isOtherQuantity(name)
            && !values.contains(plain) && !isOtherTime(name) && !kinds.contains(plain)
            && !structureEndings.contains(where: plain.hasSuffix)
    }

    /// Whether the text can be a place's name: letters in it, no time, no address, no quantity.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        let isQuantity = saysIndex(text) || pollutants.union(["co", "no", "temperature"]).contains(plain(text))
        return isShort && hasLetter && !isTime && !text.contains("://") && !isQuantity
    }
}
