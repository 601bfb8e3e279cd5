"""Shells at a terminal: the words of a command line after keys were pressed. The programs are found
through PATH."""

import os
import pty
import re
import select
import signal
import time

# What a shell runs in place of each program, to show its arguments.
SHOW = "printf '%s%s' SHO WN:; printf '<%s>' {arguments}; printf '%s%s\\n' : END"


def path_to(programs) -> dict[str, str]:
    return os.environ | {"PATH": f"{programs.folder}:{os.environ['PATH']}"}


class Shell:
    """An interactive shell. `keys` ends a line and returns the words of the command that it
    became."""

    def __init__(self, command: list[str], setup: list[str], programs):
        self._unread = b""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.execvpe(
                command[0],
                command,
                path_to(programs) | {"TERM": "dumb", "LC_ALL": "C.UTF-8", "HISTFILE": ""},
            )
        self.send("\n".join([*setup, "printf '%s%s\\n' REA DY", ""]))
        self._read_to("READY")

    def send(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def keys(self, text: str) -> list[str]:
        self.send(text + "\n")
        self._read_to("SHOWN:")
        return re.findall("<(.*?)>", self._read_to(":END"))

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def _read_to(self, marker: str, seconds: float = 60) -> str:
        deadline = time.monotonic() + seconds
        while marker.encode() not in self._unread:
            ready, _, _ = select.select(
                [self._terminal], [], [], max(0, deadline - time.monotonic())
            )
            assert ready, (
                f"no {marker} after {seconds} s, but {self._unread.decode(errors='replace')}"
            )
            self._unread += os.read(self._terminal, 1 << 16)
        before, _, self._unread = self._unread.partition(marker.encode())
        return before.decode(errors="replace")


class Bash(Shell):
    EVERY = "\x1b*"  # insert-completions

    def __init__(self, scripts: dict[str, str], folder, programs):
        shown = SHOW.format(arguments='"$@"')
        setup = ["PS1='$ '", "bind 'set enable-bracketed-paste off'"]
        for program, script in scripts.items():
            (folder / program).write_text(script)
            setup += [f"source '{folder / program}'", f"{program}() {{ {shown}; }}"]
        super().__init__(["bash", "--norc", "--noprofile", "-i"], setup, programs)


class Zsh(Shell):
    EVERY = "\x1b*"

    def __init__(self, scripts: dict[str, str], folder, programs):
        """The scripts are found as zsh finds those of packages: by their names in a folder of
        fpath."""
        shown = SHOW.format(arguments='"$@"')
        setup = ["PS1='$ '", "unsetopt zle_bracketed_paste", f"fpath=('{folder}' $fpath)"]
        setup += [
            "autoload -Uz compinit", "compinit -u -D", "zle -C every complete-word every",
            "bindkey '\\e*' every",
        ]
        # zshcompwid(1): insert all matches.
        setup += ["every() { _main_complete; compstate[insert]=all; }"]
        for program, script in scripts.items():
            (folder / f"_{program}").write_text(script)
            setup += [f"{program}() {{ {shown}; }}"]
        super().__init__(["zsh", "-f", "-i"], setup, programs)


class Fish(Shell):
    def __init__(self, scripts: dict[str, str], folder, programs):
        shown = SHOW.format(arguments="$argv")
        setup = ["function fish_greeting; end", "function fish_prompt; echo '$ '; end"]
        for program, script in scripts.items():
            (folder / program).write_text(script)
            setup += [f"source '{folder / program}'", f"function {program}; {shown}; end"]
        super().__init__(["fish", "--no-config", "-i"], setup, programs)
