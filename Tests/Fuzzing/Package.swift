// swift-tools-version: 6.3
import PackageDescription

// Each fuzzer links only what it needs: libFuzzer goes through all of a program's counters for each input.
let fuzzers: [String: [String]] = [
    "FuzzAddresses": ["Bytes", "System", "WebSocket"],
    "FuzzCompression": ["HTTPServer"],
    "FuzzFields": ["AirQuality", "Bytes", "Exposition", "HTTPServer", "HTTPText"],
    "FuzzFrames": ["WebSocket"],
    "FuzzJQ": ["JQ", "JSON", "System"],
    "FuzzMessages": ["AirQuality", "Bytes", "Exposition", "JSON"],
    "FuzzRequests": ["AirQuality", "Bytes", "Exposition", "HTTPServer", "HTTPText", "Page"],
    "FuzzStorage": ["AirQuality", "Storage"],
    "FuzzValues": ["Bytes", "CommandLine", "FeedSimulation", "JSON", "WebConfiguration"],
    "FuzzWebConfiguration": ["System", "WebConfiguration"],
]

// A package of its own, so that building the exporter does not build its fuzzers. `run` builds and starts them.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "air-quality-exporter", path: "../..")],
    targets: fuzzers.sorted { $0.key < $1.key }.map { fuzzer in
        .executableTarget(
            name: fuzzer.key,
            dependencies: (["Expectations"] + fuzzer.value).map { .product(name: $0, package: "air-quality-exporter") },
            path: "Fuzzers/\(fuzzer.key)",
            // libFuzzer brings the main function.
            swiftSettings: [.strictMemorySafety(), .unsafeFlags(["-parse-as-library"])])
    }
)
