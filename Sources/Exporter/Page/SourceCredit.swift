/// The attribution that a known source of readings asks for.
struct SourceCredit {
    var name: String
    var address: String

    /// The credit of a source by the name that feeds give it; `nil` where its terms ask for none.
    ///
    /// Terms: <https://aqicn.org/api/tos>, <https://open-meteo.com/en/license>.
    static func of(_ source: String) -> SourceCredit? {
        switch source {
        case "waqi":
            SourceCredit(
                name: "World Air Quality Index Project and its originating agencies", address: "https://waqi.info/")
        case "open-meteo":
            SourceCredit(
                name: "Open-Meteo, using Copernicus Atmosphere Monitoring Service information",
                address: "https://open-meteo.com/")
        default: nil
        }
    }
}
