/// Metric families of cities, as `--metrics.families` names them.
public enum CityFamilyName: String, Sendable, CaseIterable {
    case index, category, direction, changed, changes, updated
    /// Families that have samples only with the flag that names their field.
    case concentration, subindex, place
}
