/// Ends the process, so that a fuzzer keeps the input.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
    if !isTrue { fatalError(what()) }
}

/// Errors are one line for people.
func expectOneLine(_ text: String) {
    let isOneLine = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    expect(isOneLine, "not one line: \(text)")
}
