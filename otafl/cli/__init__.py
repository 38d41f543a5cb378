"""The command line, ``otafl``: studies and their results, links, validation and the demo."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence

from otafl.cli import commands
from otafl.cli.parser import make_parser, parse
from otafl.cli.stopping import stop_signals
from scenarios.errors import ScenarioError, StudyError

BAD_INPUT, FAILURE = 2, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        The exit code: 0, 1 for what failed, 2 for bad input, 128 plus the number of the signal that
        stopped it.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parse(make_parser(), arguments)
    try:
        with stop_signals():
            options.command(options)
        return 0
    except (ScenarioError, StudyError) as error:
        return _say(f"otafl: {error}", BAD_INPUT if isinstance(error, ScenarioError) else FAILURE)
    except KeyboardInterrupt as stop:
        code = 128 + int(stop.args[0] if stop.args else signal.SIGINT)
        if options.command is not commands.run:
            return _say("\notafl: stopped", code)
        again = f"{commands.otafl()} {shlex.join(arguments)}"
        saved = "finished cells are saved" + ", running ones too" * (options.engine == "local")
        return _say(f"\notafl: stopped; {saved}; resume with:\n  {again}", code)
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        return _say(f"otafl: {error.filename} cannot be used: {error.strerror}", FAILURE)


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
