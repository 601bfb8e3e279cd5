import AirQuality
import AirSources
import JSON

extension CityAir {
    func element(of city: PolledCity) -> [UInt8] {
        var place = [#""latitude":\#(city.latitude)"#, #""longitude":\#(city.longitude)"#]
        if let country = city.country { place.append(#""country":\#(jsonLiteral(country))"#) }
        var fields = [#""city":\#(jsonLiteral(city.name))"#, #""aqi":\#(aqi)"#, #""time":\#(observedAt)"#]
        // The exporter keeps the previous values if a field is absent; an empty field clears them.
        if !concentrations.isEmpty { fields.append(#""pollutants":\#(jsonObject(concentrations))"#) }
        fields.append(#""subindices":\#(jsonObject(subIndices))"#)
        fields.append(#""place":{\#(place.joined(separator: ","))}"#)
        fields.append(#""basis":"\#(basis)""#)
        if let attribution { fields.append(#""attribution":\#(jsonLiteral(attribution))"#) }
        return Array("{\(fields.joined(separator: ","))}".utf8)
    }
}

private func jsonObject(_ values: [Pollutant: Double]) -> String {
    let fields = values.map { #""\#($0.rawValue)":\#($1)"# }.sorted()
    return "{\(fields.joined(separator: ","))}"
}
