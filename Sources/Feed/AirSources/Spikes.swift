/// Hours in which an instrument for particulate matter was stuck at its maximum: above 300 µg/m³, and more than five
/// times as much as the nearest hour before and the nearest one after, of three hours each. Where one of them is
/// missing the other decides, so a real rise is believed an hour late; what lasts for two hours is always believed.
func spikes(of hours: [Int: Double]) -> [Int] {
    hours.filter { hour, value in
        let beside = [-1, 1].compactMap { step in (1...3).lazy.compactMap { hours[hour + step * $0] }.first }
        return value > 300 && value > 5 * (beside.max() ?? value)
    }.keys.sorted()
}
