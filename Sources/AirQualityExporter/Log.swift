import Glibc
import Logging

func makeLogger(_ configuration: Configuration) -> Logger {
    Logger(label: "x") { StreamLogHandler.standardError(label: $0) }
}
func exitProcess(_ status: Int32) -> Never { exit(status) }
