/// The reason for rejecting a message or an element: the closed set of values of the `reason` label.
///
/// The cases are in the order in which the reasons are checked; an element is rejected for the first that applies.
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
    // Readings, by the store's state; a malformed time is bad too.
    case badTime = "bad_time"
    case outOfRange = "out_of_range"
    case cityLimit = "city_limit"
}
