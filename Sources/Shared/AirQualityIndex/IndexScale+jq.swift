internal import AirQuality

extension IndexScale {
    /// Definitions of the jq functions `india_aqi`, `us_aqi` and `eu_aqi`, ending in a line end.
    ///
    /// Each takes an object of concentrations in µg/m³ by the usual names of the pollutants, and gives the highest
    /// sub-index of these values, as if they had lasted for all the hours that the scale averages; `null` without
    /// particulate matter (`eu_aqi`: without any pollutant). Values below 0 or above a million, and particulate matter
    /// above 999 µg/m³, a code for "no value" of many sensors, count as none.
    public static let jqDefinitions =
        """
        def airquality_index($tables; $needs_particles; rounded):
          def interpolated($points):
            . as $value
            | if . < $points[0][0] then empty else
                (([range(1; $points | length) | select($value <= $points[.][0])] | first) // ($points | length) - 1) as $above
                | $points[$above - 1] as $low | $points[$above] as $high
                | $low[1] + ($value - $low[0]) / ($high[0] - $low[0]) * ($high[1] - $low[1])
              end;
          def truncated($step):
            if $step == 0 then . else (. / $step + 1e-9 | floor) | if $step == 1 then . else . / (1 / $step) end end;
          (to_entries | map(
            {key: (.key | [explode[] | select(. != 95 and . != 46 and . != 45 and . != 32)] | implode | ascii_downcase),
             value: (.value | if type == "string" then tonumber? else . end | numbers)}
            | .key |= if . == "ozone" then "o3" else . end
            | select(.value >= 0 and .value <= (if .key == "pm25" or .key == "pm10" then 999 else 1000000 end)))
           | from_entries) as $air
          | if $needs_particles and $air.pm25 == null and $air.pm10 == null then null else
              [$tables[] | . as $table | $air[.name] | numbers
               | . / $table.weight / $table.unit | [., ($table.limit // .)] | min | truncated($table.step)
               | interpolated($table.points) | . + 1e-9 | rounded]
              | max
            end;
        \(definition(of: .india))
        \(definition(of: .us))
        \(definition(of: .eu))

        """

    private static func definition(of scale: IndexScale) -> String {
        let tables = scale.curves.map(\.jq).joined(separator: ",\n  ")
        return """
            def \(scale.rawValue)_aqi: airquality_index([
              \(tables)]; \(scale != .eu); \(scale == .eu ? "floor" : "round"));
            """
    }

    /// The curves that a lasting concentration is read from: an AQI is the highest of theirs.
    private var curves: [Rating] {
        switch self {
        case .india:
            Pollutant.allCases.compactMap { pollutant in
                Breakpoints.india[pollutant].map { Rating(pollutant, $0, unit: pollutant == .co ? 1000 : 1) }
            }
        case .us:
            [
                Rating(.pm25, Breakpoints.pm25, isTruncated: true), Rating(.pm10, Breakpoints.pm10, isTruncated: true),
                Rating(.no2, Breakpoints.no2, isTruncated: true), Rating(.so2, Breakpoints.so2, isTruncated: true),
                Rating(.o3, Breakpoints.ozone8Hours, isTruncated: true, limit: Breakpoints.ozone8HoursEnd),
                Rating(.o3, Breakpoints.ozoneHour, isTruncated: true),
                Rating(.co, Breakpoints.co, isTruncated: true, unit: 1000),
            ]
        case .eu:
            Pollutant.allCases.compactMap { pollutant in Breakpoints.europe[pollutant].map { Rating(pollutant, $0) } }
        }
    }

    /// A pollutant and the curve of its sub-index.
    private struct Rating {
        let pollutant: Pollutant
        let curve: SubIndexCurve
        let isTruncated: Bool
        /// How many of the source's units one of the curve's has, after the conversion to ppb.
        let unit: Double
        /// Higher values count as this one, in ppb; `nil` for no limit.
        let limit: Double?

        init(
            _ pollutant: Pollutant, _ curve: SubIndexCurve, isTruncated: Bool = false, unit: Double = 1,
            limit: Double? = nil
        ) {
            self.pollutant = pollutant
            self.curve = curve
            self.isTruncated = isTruncated
            self.unit = unit
            self.limit = limit
        }

        /// The rating as a jq object.
        var jq: String {
            let name = pollutant.rawValue.replacing("_", with: "")
            let weight = isTruncated ? pollutant.microgramsPerPPB ?? 1 : 1
            let points = curve.points.map { "[\($0.concentration), \($0.subIndex)]" }.joined(separator: ", ")
            let limit = limit.map { ", limit: \($0)" } ?? ""
            let step = isTruncated ? curve.step : 0
            return "{name: \"\(name)\", weight: \(weight), step: \(step), unit: \(unit)\(limit), points: [\(points)]}"
        }
    }
}
