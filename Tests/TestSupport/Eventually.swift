import Glibc
public import Testing

/// Waits until the condition holds; an issue when it does not for long.
public func eventually(_ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) {
    let deadline = ContinuousClock.now + .seconds(30)
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("\(what) did not come true", sourceLocation: sourceLocation)
            return
        }
        usleep(2000)
    }
}
