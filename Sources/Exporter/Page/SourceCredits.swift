/// Credits that sources require, by the source names that feeds send. Terms: <https://aqicn.org/api/tos>,
/// <https://open-meteo.com/en/license>.
let sourceCredits: [String: (name: String, address: String)] = [
    "waqi": ("World Air Quality Index Project and its originating agencies", "https://waqi.info/"),
    "open-meteo": (
        "Open-Meteo, using Copernicus Atmosphere Monitoring Service information", "https://open-meteo.com/"
    ),
]
