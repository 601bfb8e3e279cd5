import Foundation
import PackagePlugin

/// Generates a source file with a program's version, revision and branch from variables that the Makefile and the
/// Dockerfile set. A bare `swift build` has version `dev` and the rest unknown.
@main
struct BuildVersion: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String, _ otherwise: String) -> String {
            let text = environment[name] ?? ""
            // A value must not end the Swift string literal that contains it.
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
        // The file already exists; the command only declares its folder as a source of generated files.
        return [
            .prebuildCommand(
                displayName: "Build version", executable: URL(filePath: "/bin/true"), arguments: [],
                outputFilesDirectory: folder)
        ]
    }
}
