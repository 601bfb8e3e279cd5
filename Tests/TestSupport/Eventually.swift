public import Testing

/// Waits until the condition holds, and records an issue if that takes too long.
public func eventually(_ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) {
    if !wait(until: condition) { Issue.record("\(what) did not come true", sourceLocation: sourceLocation) }
}
