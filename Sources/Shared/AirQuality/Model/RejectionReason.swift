/// The reason why a message or an element was rejected: the values of the `reason` label, a closed set.
///
/// The cases are in the order in which the reasons are looked for; an element is rejected for the first that applies.
public enum RejectionReason: String, Error, CaseIterable {
    // Whole messages.
    case tooLarge = "too_large"
    case notJSON = "not_json"
    case jqError = "jq_error"
    case notAnArray = "not_an_array"
    // Elements, by their form.
    case notAnObject = "not_an_object"
    case noCity = "no_city"
    case badCity = "bad_city"
    case noValue = "no_value"
    case badValue = "bad_value"
    // Readings, by what the store knows; a time may be bad by its form as well.
    case badTime = "bad_time"
    case outOfRange = "out_of_range"
    case cityLimit = "city_limit"
}
