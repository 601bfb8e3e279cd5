import AirQuality
import AirQualityIndex
import AirSources
import Bytes

extension CityAir {
    /// The air as an element of the feed.
    func element(of city: PolledCity) -> [UInt8] {
        var place = [#""latitude":\#(city.latitude)"#, #""longitude":\#(city.longitude)"#]
        if let country = city.country { place.append(#""country":\#(jsonText(country))"#) }
        var fields = [#""city":\#(jsonText(city.name))"#, #""aqi":\#(index)"#, #""time":\#(observedAt)"#]
        // An element without the field leaves concentrations as they are; an empty field would clear them.
        if !concentrations.isEmpty { fields.append(#""pollutants":\#(jsonObject(concentrations))"#) }
        if !subIndices.isEmpty { fields.append(#""subindices":\#(jsonObject(subIndices))"#) }
        fields.append(#""place":{\#(place.joined(separator: ","))}"#)
        fields.append(#""basis":"\#(basis)""#)
        if let attribution { fields.append(#""attribution":\#(jsonText(attribution))"#) }
        return Array("{\(fields.joined(separator: ","))}".utf8)
    }
}

private func jsonText(_ text: String) -> String {
    var json: [UInt8] = []
    json.appendJSONString(Array(text.utf8).span)
    return String(decoding: json, as: UTF8.self)
}

private func jsonObject(_ values: [Pollutant: Double]) -> String {
    let fields = values.map { #""\#($0.rawValue)":\#($1)"# }.sorted()
    return "{\(fields.joined(separator: ","))}"
}
