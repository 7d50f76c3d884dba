"""The watcher: a process that hears of all ranks, and says which of them others wait for in vain.

Rank 0 starts it as a program of its own, in a session of its own: where a rank dies, MPI ends the
others before they could say anything. It uses nothing but the standard library. Each rank keeps a
connection to it, and says every now and then which operations it has begun (`watch.py`). The first
fault is told in one message on the error stream of rank 0, and to the ranks that are left, which
end themselves.
"""

from __future__ import annotations

import itertools
import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import Any

REMEMBERED = 16
"""How many of its last operations a rank tells of."""


@dataclass
class State:
    """What is known of a rank.

    Attributes:
        rank: its number.
        place: its process and its host, in words.
        heard: when it was last heard of, in seconds.
        operations: what it has begun, by number: the last ones.
        waits: in which operation it waits for others, and for how many seconds; or None.
        ended: whether it has said that it ends.
    """

    rank: int
    place: str
    heard: float
    operations: dict[int, str] = field(default_factory=dict)
    waits: tuple[int, float] | None = None
    ended: bool = False

    @property
    def last(self) -> int:
        """The number of the last operation, from 1; 0 if there was none."""
        return max(self.operations, default=0)

    @property
    def name(self) -> str:
        """The rank, and where it runs."""
        return f"rank {self.rank} ({self.place})"

    @property
    def whereabouts(self) -> str:
        """The last operation, in words."""
        if not self.last:
            return "before its first operation"
        moment = "in" if self.waits and self.waits[0] == self.last else "after"
        return f"{moment} operation {self.last}, {self.operations[self.last]}"


def fault(states: list[State], now: float, timeout: float) -> str | None:
    """Return what keeps ranks from going on, in words; None if nothing does.

    Args:
        states: what is known of each rank.
        now: the time, in seconds.
        timeout: how many seconds a rank may be silent, or keep another one waiting.
    """
    for state in states:
        if not state.ended and now - state.heard > timeout:
            silence = now - state.heard
            return f"{state.name} has been silent for {silence:.0f} s, {state.whereabouts}"
    return _disagreement(states) or _waiting_in_vain(states, timeout)


def _disagreement(states: list[State]) -> str | None:
    """Return which ranks have begun different operations where they must do the same."""
    for other, one in itertools.combinations(states, 2):
        for number in sorted(one.operations.keys() & other.operations.keys()):
            theirs, its = other.operations[number], one.operations[number]
            if theirs != its:
                return (
                    f"operation {number} of {one.name} is {its}, and of {other.name} {theirs}: "
                    "ranks must do the same"
                )
    return None


def _waiting_in_vain(states: list[State], timeout: float) -> str | None:
    for one in states:
        if one.waits is None or one.ended:
            continue
        number, seconds = one.waits
        for other in states:
            if other.last >= number:
                continue
            what = f"while {one.name} waits for it in operation {number}, {one.operations[number]}"
            if other.ended:
                return f"{other.name} has ended {other.whereabouts}, {what}"
            if seconds > timeout:
                return f"{other.name} has been {other.whereabouts} for {seconds:.0f} s, {what}"
    return None


class Watcher:
    """Hears of ranks until the last connection is closed.

    Args:
        listener: where ranks connect.
        size: how many there are.
        token: what a connection must begin with to be one of them.
        timeout: see `fault`.
    """

    def __init__(self, listener: socket.socket, size: int, token: str, timeout: float) -> None:
        self._listener, self._size, self._token, self._timeout = listener, size, token, timeout
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._states: dict[int, State] = {}
        self._unread: dict[socket.socket, bytes] = {}
        self._ranks: dict[socket.socket, int] = {}
        self._told = False

    def run(self) -> None:
        """Hear and judge, until every rank has come and gone."""
        began, pause = time.monotonic(), min(1.0, self._timeout / 4)
        with self._listener, self._selector:
            while self._unread or len(self._states) < self._size:
                if not self._unread and time.monotonic() - began > self._timeout:
                    return  # nobody has come
                self._listen(pause)
                found = fault(self._known(), time.monotonic(), self._timeout)
                if found is not None:
                    self._tell(found)

    def _listen(self, pause: float) -> None:
        """Take in all that is said, for at most a pause, and only then who has gone."""
        closed: list[socket.socket] = []
        for key, _ in self._selector.select(pause):
            connection: Any = key.fileobj
            if connection is self._listener:
                self._accept()
            elif not self._hear(connection):
                closed.append(connection)
        for connection in closed:
            self._closed(connection)

    def _known(self) -> list[State]:
        return [self._states[rank] for rank in sorted(self._states)]

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        self._unread[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)

    def _hear(self, connection: socket.socket) -> bool:
        """Take in what a rank says; return whether the connection is still open."""
        try:
            received = connection.recv(65536)
        except OSError:
            received = b""
        *lines, rest = (self._unread[connection] + received).split(b"\n")
        self._unread[connection] = rest
        for line in lines:
            if connection in self._ranks:
                self._understand(self._states[self._ranks[connection]], json.loads(line))
            else:
                self._greet(connection, line)
        return bool(received)

    def _greet(self, connection: socket.socket, line: bytes) -> None:
        """Take in the first line of a connection, by which a rank is known from strangers."""
        if not line.startswith(self._token.encode()):
            return
        introduced = json.loads(line.removeprefix(self._token.encode()))
        rank = introduced["rank"]
        self._ranks[connection] = rank
        self._states[rank] = State(rank, introduced["place"], time.monotonic())
        connection.sendall(b"welcome\n")

    def _understand(self, state: State, message: dict[str, Any]) -> None:
        state.heard = time.monotonic()
        state.operations = {int(number): what for number, what in message["operations"].items()}
        state.waits = message["waits"] and tuple(message["waits"])
        state.ended = message["ended"]
        if message["raised"]:
            self._tell(f"{state.name} raised {message['raised']} {state.whereabouts}")

    def _closed(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        del self._unread[connection]
        rank = self._ranks.pop(connection, None)
        if rank is not None and not self._states[rank].ended:
            state = self._states[rank]
            self._tell(f"{state.name} died, last heard of {state.whereabouts}")

    def _tell(self, found: str) -> None:
        """Say what is wrong, once, and end the ranks that are left."""
        if not self._told:
            self._told = True
            print(f"mt_nn.parallel: {found}. All ranks end.", file=sys.stderr, flush=True)
        for connection in self._ranks:
            try:
                connection.sendall(b"end\n")
            except OSError:
                continue  # it has ended


def main() -> None:
    """Watch: the arguments are the number of an open socket, the size, the token, the timeout."""
    number, size, token, timeout = sys.argv[1:]
    Watcher(socket.socket(fileno=int(number)), int(size), token, float(timeout)).run()


if __name__ == "__main__":
    main()
