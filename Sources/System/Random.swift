/// A number in 0..<1, all equally likely, from the system's generator; any thread.
public func randomUnit() -> Double {
    Double.random(in: 0..<1)
}
