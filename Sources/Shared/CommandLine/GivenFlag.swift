/// The values of one flag and where they come from: `--flag`, or a variable's name.
struct GivenFlag: Sendable {
    var values: [String]
    var origin: String
}
