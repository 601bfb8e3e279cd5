internal import Glibc

/// Kilometres over the globe between two places in degrees (haversine); `nil` where the other one is no place.
func kilometers(_ latitude: Double, _ longitude: Double, _ otherLatitude: Double, _ otherLongitude: Double) -> Double? {
    guard abs(otherLatitude) <= 90, abs(otherLongitude) <= 180 else { return nil }
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let north = radians(otherLatitude - latitude) / 2
    let east = radians(otherLongitude - longitude) / 2
    let sine = sin(north)
    let cosine = cos(radians(latitude)) * cos(radians(otherLatitude))
    return 2 * 6371 * asin(min(1, (sine * sine + cosine * sin(east) * sin(east)).squareRoot()))
}
