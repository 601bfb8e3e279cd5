final class StopBell: Sendable {
    func stop() {}
    func waitToStop(for: Duration) -> Bool { true }
}
