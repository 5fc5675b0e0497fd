"""A server that forks for each run of a tool, so that Python starts and imports modules once.

Each run is a process with its own file descriptors, exit status, environment and working directory, and
shares no state with other runs. Forking the server is safe, because it has no threads; pytest may have some.

Client and server communicate over a socket. A request is its length, the JSON text of the arguments and of
changes to the environment, and three file descriptors; the response is the exit status.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO

# The module of each tool; its `main` reads sys.argv.
TOOLS = {
    "sdy-opt": "sdyopt.tools.cli",
    "sdy-opt-verify": "sdyopt.tools.cli.verify",
    "filecheck": "sdyopt.tools.lit.filecheck",
    "FileCheck": "sdyopt.tools.lit.filecheck",
    "split-file": "sdyopt.tools.lit.split_file",
}
# Modules that most runs need; every run imports any others itself.
COMMON_MODULES = (
    "sdyopt.tools.cli.files",
    "sdyopt.tools.cli.request",
    "sdyopt.mlir.dialects.builtin",
    "sdyopt.mlir.dialects.func",
    "sdyopt.mlir.dialects.sdy",
    "sdyopt.mlir.dialects.stablehlo",
    "sdyopt.tools.driver.run",
)
PRELOADED = (*TOOLS.values(), "filecheck.main", "filecheck.matcher", *COMMON_MODULES)
# Gives the server the client's module search path. Until then, `-P` excludes the folder that it runs in.
START = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)

# A traceback is a crash, like an abort of a C++ tool, which `not` rejects.
TRACEBACK_STATUS = 128 + signal.SIGABRT
SECONDS_PER_RUN = 60
_WATCH_SECONDS = 0.5

_LENGTH = struct.Struct("!I")
_STATUS = struct.Struct("!i")


class ForkServerClient:
    """Starts a server and sends it requests.

    Tools run in `folder`; one that takes longer than `seconds` is ended.
    """

    def __init__(self, folder: Path, seconds: int = SECONDS_PER_RUN) -> None:
        self._channel, server_end = socket.socketpair()
        with server_end:
            arguments = [json.dumps(sys.path), __name__, str(server_end.fileno()), str(seconds)]
            command = [sys.executable, "-P", "-c", START, *arguments]
            self._process = subprocess.Popen(command, cwd=folder, pass_fds=[server_end.fileno()])

    def run(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a tool and returns its exit status; a negative status is the signal that ended it."""
        request = json.dumps([list(words), dict(environment)]).encode()
        descriptors = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        socket.send_fds(self._channel, [_LENGTH.pack(len(request))], descriptors)
        self._channel.sendall(request)
        response = self._channel.recv(_STATUS.size, socket.MSG_WAITALL)
        if len(response) != _STATUS.size:
            raise RuntimeError("the fork server ended")
        status: int = _STATUS.unpack(response)[0]
        return status

    def close(self) -> None:
        """Stops the server."""
        self._channel.close()
        self._process.wait()


def serve(channel: socket.socket, seconds: int) -> None:
    """Handles requests until the client closes its end, or ends while a tool runs."""
    client, children = os.getppid(), list[int]()

    def watch(*_: object) -> None:
        # Not in a thread, because this process forks.
        if os.getppid() != client:
            for child in children:
                os.kill(child, signal.SIGKILL)
            os._exit(1)

    signal.signal(signal.SIGALRM, watch)
    signal.setitimer(signal.ITIMER_REAL, _WATCH_SECONDS, _WATCH_SECONDS)
    for module in PRELOADED:
        # If an import fails, the runs that need the module report it.
        with contextlib.suppress(Exception):
            import_module(module)
    while True:
        header, descriptors, _, _ = socket.recv_fds(channel, _LENGTH.size, 3)
        if not header:
            return
        request = channel.recv(_LENGTH.unpack(header)[0], socket.MSG_WAITALL)
        words, environment = json.loads(request)
        if (child := os.fork()) == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _run_tool(words, environment, descriptors, seconds)
        children.append(child)
        for descriptor in descriptors:
            os.close(descriptor)
        _, wait_status = os.waitpid(child, 0)
        children.clear()
        channel.sendall(_STATUS.pack(os.waitstatus_to_exitcode(wait_status)))


def _run_tool(words: list[str], environment: dict[str, str], descriptors: list[int], seconds: int) -> None:
    """Runs a tool in this process and exits with its status."""
    for stream, descriptor in enumerate(descriptors):
        os.dup2(descriptor, stream)
    os.environ.update(environment)
    sys.argv = words
    signal.alarm(seconds)
    status = TRACEBACK_STATUS
    try:
        status = exit_status(import_module(TOOLS[words[0]]).main())
    except SystemExit as system_exit:
        status = exit_status(system_exit.code)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def exit_status(value: object) -> int:
    """The exit status that Python derives from the result of `main` or the argument of `sys.exit`."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
