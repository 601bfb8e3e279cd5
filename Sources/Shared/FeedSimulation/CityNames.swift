/// Distinct names of simulated cities, by index: the twelve of the real feed in its order, then invented Indian
/// places. Like real names, some contain spaces, hyphens, apostrophes, full stops or Devanagari.
enum CityNames {
    static let real = [
        "Mumbai", "Bengaluru", "Delhi", "Kolkata", "Bhubaneswar", "Chennai",
        "Pune", "Hyderabad", "Indore", "Jaipur", "Chandigarh", "Lucknow",
    ]

    private static let beginnings = [
        "Ram", "Shiv", "Krishna", "Hari", "Gopal", "Raj", "Dev", "Lakshmi", "Surya", "Chandra", "Vijaya", "Govind",
    ]

    private static let endings = ["pur", "nagar", "garh", "abad", "ganj", "gaon", "palli", "kot", "wadi", "giri"]

    static func name(_ index: Int) -> String {
        guard index >= real.count else { return real[index] }
        let nameCount = beginnings.count * endings.count
        let nameIndex = (index - real.count) % nameCount
        let round = (index - real.count) / nameCount
        let plain = beginnings[nameIndex % beginnings.count] + endings[nameIndex / beginnings.count]
        // Each name goes through all spellings, one per round.
        guard round < 6 else { return "\(plain) Sector \(round - 5)" }
        switch (nameIndex + round) % 6 {
        case 1: return plain + "-Hill"
        case 2: return "Navi " + plain
        case 3: return plain + " King's Circle"
        case 4: return plain + " St. Thomas' Mount"
        case 5: return plain + " नगर"
        default: return plain
        }
    }
}
