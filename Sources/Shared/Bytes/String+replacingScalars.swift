extension String {
    /// Replaces a text wherever its Unicode scalars are; Swift's own `replacing` leaves a character alone that has a
    /// combining sign.
    package func replacingScalars(_ text: String, with other: String) -> String {
        String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
    }
}
