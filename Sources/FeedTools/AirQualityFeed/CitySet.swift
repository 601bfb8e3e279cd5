import AirSources

/// The built-in lists of cities: CSV in the format of `--cities`, generated from GeoNames by `Cities/make-sets`.
enum CitySet: String, CaseIterable {
    case seeds, india, capitals

    func cities() throws -> [PolledCity] {
        switch self {
        case .seeds: try PolledCity.list(csv: PackageResources.seeds_csv)
        case .india: try PolledCity.list(csv: PackageResources.india_csv)
        case .capitals: try PolledCity.list(csv: PackageResources.capitals_csv)
        }
    }
}
