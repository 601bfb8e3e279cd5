import Exposition

extension BuildVersion {
    /// Values of the labels of `airquality_exporter_build_info`.
    static let labels = [version, revision, branch, swift]

    static let families: [Family<[String]>] = [
        Family(
            "airquality_exporter_build_info", .gauge, labels: ["version", "revision", "branch", "swiftversion"],
            "Build information; the value is 1."
        ) { build, add in add(build, 1) }
    ]
}
