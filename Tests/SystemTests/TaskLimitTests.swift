import Foundation
import TestSupport
import Testing

@testable import System

struct TaskLimitTests {
    private let directory = TemporaryDirectory()

    private func group(_ path: String, maximum: String, current: Int) throws {
        try FileManager.default.createDirectory(
            atPath: directory.file(path), withIntermediateDirectories: true)
        directory.write("\(path)/pids.max", maximum + "\n")
        directory.write("\(path)/pids.current", "\(current)\n")
    }

    @Test(
        arguments: [
            ("0::/a/b\n", 60), ("0::/a\n", 90), ("0::/a/c\n", 0), ("0::/\n", nil), ("0::/gone\n", nil),
            ("12:cpu:/a\n4:pids:/x\n", 7), ("12:cpu:/x\n", nil), ("", nil),
        ])
    func `The room for threads is the least of the control group and those above it`(groups: String, room: Int?) throws
    {
        try group("a", maximum: "100", current: 10)
        try group("a/b", maximum: "80", current: 20)
        // The limit may have been lowered later.
        try group("a/c", maximum: "5", current: 9)
        try group("d", maximum: "max", current: 20)
        try group("pids/x", maximum: "10", current: 3)
        let file = directory.write("cgroup", groups)
        #expect(TaskLimit.leftInControlGroups(file: file, mount: directory.path) == room)
    }
}
