// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that building the exporter does not build its benchmarks.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "air-quality-exporter", path: "../..")],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["AirQuality", "Bytes", "Exposition"].map {
                .product(name: $0, package: "air-quality-exporter")
            })
    ]
)
