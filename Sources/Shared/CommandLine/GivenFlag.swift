/// The values of a flag and their origin: `--flag`, or the name of an environment variable.
struct GivenFlag: Sendable {
    var values: [String]
    var origin: String
}
