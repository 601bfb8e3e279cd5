/// Metric families of cities, by their names in `--metrics.families`.
public enum CityFamilyName: String, Sendable, CaseIterable {
    case index, category, direction, changed, changes, updated, concentration, subindex, place
}
