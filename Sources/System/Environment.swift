internal import Glibc

/// The value of an environment variable, nil when it is not set. Nothing in this process changes the environment.
public func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
