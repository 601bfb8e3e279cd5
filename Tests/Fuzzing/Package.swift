// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that nobody who builds the exporter builds its fuzzers. `run` builds and starts them.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "air-quality-exporter", path: "../..")],
    targets: [
        .target(
            name: "Properties",
            dependencies: [
                "AirQuality", "Bytes", "CommandLine", "FeedSimulation", "HTTPServer", "JSON", "Storage", "System",
                "WebConfiguration", "WebSocket",
            ].map {
                .product(name: $0, package: "air-quality-exporter")
            },
            path: "Properties", swiftSettings: [.strictMemorySafety()])
    ]
        + [
            "FuzzCompression", "FuzzFields", "FuzzFrames", "FuzzMessages", "FuzzRequests", "FuzzStorage",
            "FuzzWebConfiguration",
        ].map {
            .executableTarget(
                name: $0, dependencies: ["Properties"], path: "Fuzzers/\($0)",
                // libFuzzer brings the main function.
                swiftSettings: [.strictMemorySafety(), .unsafeFlags(["-parse-as-library"])])
        }
)
