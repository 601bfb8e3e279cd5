public import Testing

/// Waits until the condition holds; an issue when it does not for long.
public func eventually(_ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) {
    if !wait(until: condition) { Issue.record("\(what) did not come true", sourceLocation: sourceLocation) }
}
