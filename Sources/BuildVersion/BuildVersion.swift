import Foundation
import PackagePlugin

/// Writes what a program is built from into its module: version, revision and branch, as the environment says them.
///
/// The Makefile and the Dockerfile set the variables; for a bare `swift build` the version is `dev` and the rest
/// unknown.
@main
struct BuildVersion: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String, _ otherwise: String) -> String {
            let text = environment[name] ?? ""
            // A value must not end the Swift string literal that it stands in.
            return text.isEmpty ? otherwise : text.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline }
        }
        let source = """
            /// The version, commit and branch that this program was built from.
            enum BuildVersion {
                static let version = "\(value("AIRQUALITY_BUILD_VERSION", "dev"))"
                static let revision = "\(value("AIRQUALITY_BUILD_REVISION", "unknown"))"
                static let branch = "\(value("AIRQUALITY_BUILD_BRANCH", "unknown"))"
            }

            """
        let folder = context.pluginWorkDirectoryURL.appending(path: "Generated")
        let file = folder.appending(path: "BuildVersion.swift")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if (try? String(contentsOf: file, encoding: .utf8)) != source {
            try source.write(to: file, atomically: true, encoding: .utf8)
        }
        // The file is there already; the command only names the folder as one of sources.
        return [
            .prebuildCommand(
                displayName: "Build version", executable: URL(filePath: "/bin/true"), arguments: [],
                outputFilesDirectory: folder)
        ]
    }
}
