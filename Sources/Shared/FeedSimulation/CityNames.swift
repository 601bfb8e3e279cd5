/// The names of simulated cities: the twelve of the real feed in their order, then invented places of India.
///
/// No two are equal, and each depends on its number alone. Among them are names with blanks, hyphens, apostrophes and
/// full stops, and names in Devanagari, because real names are like that and readers of a feed must take them.
enum CityNames {
    static let real = [
        "Mumbai", "Bengaluru", "Delhi", "Kolkata", "Bhubaneswar", "Chennai",
        "Pune", "Hyderabad", "Indore", "Jaipur", "Chandigarh", "Lucknow",
    ]

    static func name(_ number: Int) -> String {
        guard number >= real.count else { return real[number] }
        let number = number - real.count
        let placeCount = beginnings.count * endings.count
        // A prime that does not divide the count visits every place once, neighbours far apart.
        let place = number % placeCount * 7919 % placeCount
        let round = number / placeCount
        let beginning = beginnings[place % beginnings.count]
        let ending = endings[place / beginnings.count]
        let plain = beginning.latin + ending.latin
        guard round < spellings.count else { return "\(plain) Sector \(round - spellings.count + 1)" }
        // Every place goes through all spellings, one a round; most begin with the plain one.
        let first = max(0, place % 16 - 16 + spellings.count)
        switch spellings[(first + round) % spellings.count] {
        case .before(let word): return word + plain
        case .after(let word): return plain + word
        case .devanagari: return beginning.devanagari + ending.devanagari
        }
    }

    private enum Spelling {
        case before(String)
        case after(String)
        case devanagari
    }

    private static let spellings: [Spelling] = [
        .after(""), .after(" Kalan"), .devanagari, .after("-Hill"), .after(" King's Circle"), .before("Navi "),
        .after(" Khurd"), .after(" St. Thomas' Mount"),
    ]

    private static let beginnings: [(latin: String, devanagari: String)] = [
        ("Ram", "राम"), ("Shiv", "शिव"), ("Krishna", "कृष्ण"), ("Hari", "हरि"), ("Gopal", "गोपाल"), ("Raj", "राज"),
        ("Dev", "देव"), ("Lakshmi", "लक्ष्मी"), ("Surya", "सूर्य"), ("Chandra", "चंद्र"), ("Vijaya", "विजय"),
        ("Govind", "गोविंद"), ("Madhav", "माधव"), ("Nand", "नंद"), ("Bal", "बल"), ("Bhim", "भीम"), ("Dharma", "धर्म"),
        ("Ganga", "गंगा"), ("Yamuna", "यमुना"), ("Saraswati", "सरस्वती"), ("Kamal", "कमल"), ("Padma", "पद्म"),
        ("Amrit", "अमृत"), ("Anand", "आनंद"), ("Ashok", "अशोक"), ("Vikram", "विक्रम"), ("Prithvi", "पृथ्वी"),
        ("Sagar", "सागर"), ("Himmat", "हिम्मत"), ("Mani", "मणि"), ("Moti", "मोती"), ("Hira", "हीरा"), ("Sona", "सोना"),
        ("Chandan", "चंदन"), ("Keshav", "केशव"), ("Narayan", "नारायण"), ("Vishnu", "विष्णु"), ("Brahma", "ब्रह्म"),
        ("Indra", "इंद्र"), ("Varun", "वरुण"), ("Agra", "अग्र"), ("Uday", "उदय"), ("Jodh", "जोध"), ("Jaisal", "जैसल"),
        ("Bhoj", "भोज"), ("Tej", "तेज"), ("Man", "मान"), ("Fateh", "फतेह"), ("Sultan", "सुल्तान"), ("Shah", "शाह"),
        ("Nawab", "नवाब"), ("Begum", "बेगम"), ("Aziz", "अज़ीज़"), ("Rahim", "रहीम"), ("Karim", "करीम"), ("Faiz", "फैज़"),
        ("Noor", "नूर"), ("Mubarak", "मुबारक"), ("Gandhi", "गांधी"), ("Nehru", "नेहरू"), ("Tilak", "तिलक"),
        ("Subhash", "सुभाष"), ("Patel", "पटेल"), ("Ambedkar", "अंबेडकर"),
    ]

    private static let endings: [(latin: String, devanagari: String)] = [
        ("pur", "पुर"), ("nagar", "नगर"), ("garh", "गढ़"), ("abad", "आबाद"), ("ganj", "गंज"), ("gaon", "गांव"),
        ("palli", "पल्ली"), ("patnam", "पट्टनम"), ("kot", "कोट"), ("wadi", "वाड़ी"), ("halli", "हल्ली"),
        ("giri", "गिरि"), ("kheda", "खेड़ा"), ("puram", "पुरम"), ("gudi", "गुड़ी"), ("tala", "ताला"), ("mandi", "मंडी"),
        ("sar", "सर"), ("badi", "बाड़ी"), ("dih", "डीह"), ("bagh", "बाग"), ("sarai", "सराय"), ("khand", "खंड"),
        ("ghat", "घाट"), ("talab", "तालाब"),
    ]
}
