"""Train an agent to walk to a treasure, around the pits of an island.

This example shows deep Q-learning: a network estimates the value of each move, the discounted
reward to come; a replay buffer provides batches of past moves; a target network, which follows the
first one slowly, estimates the value of the next place (without gradients); the loss is Huber's.
The island is a map in this file: S is the start, T the treasure, O a pit, which ends the walk.

After about ten seconds the agent walks to the treasure on one of the shortest paths, of eight
moves.

    python examples/treasure.py --backend fast
"""

import argparse
import copy
import itertools
import random
from collections import deque

from rich.console import Console

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F

ISLAND = [
    "S..O.",
    ".O...",
    "...O.",
    "O..O.",
    "....T",
]
MOVES = {"→": (0, 1), "↓": (1, 0), "←": (0, -1), "↑": (-1, 0)}
SIZE = len(ISLAND)
CONSOLE = Console()
Place = tuple[int, int]


def after(place: Place, move: int) -> tuple[Place, float, bool]:
    """Return the next place, the reward, and whether the episode has ended."""
    down, right = list(MOVES.values())[move]
    row, column = place[0] + down, place[1] + right
    if not (0 <= row < SIZE and 0 <= column < SIZE):
        return place, -0.05, False
    found = ISLAND[row][column]
    return (row, column), {"T": 1.0, "O": -1.0}.get(found, -0.02), found in "TO"


def seen(places: list[Place]) -> mt.Tensor:
    """Return places as inputs of the network: one-hot vectors, shape (places, SIZE²)."""
    return mt.one_hot(mt.tensor([row * SIZE + column for row, column in places]), SIZE**2).float()


class Agent:
    """A Q-network, its replay memory, and its target network."""

    def __init__(self) -> None:
        self.values = nn.Sequential(nn.Linear(SIZE**2, 64), nn.ReLU(), nn.Linear(64, len(MOVES)))
        self.slow = copy.deepcopy(self.values).requires_grad_(False)
        self.memory: deque[tuple[Place, int, float, Place, bool]] = deque(maxlen=2000)
        self.optimizer = nn.optim.AdamW(self.values.parameters(), lr=2e-3, amsgrad=True)

    def best(self, place: Place) -> int:
        """Return the move with the largest value."""
        with mt.no_grad():
            return int(self.values(seen([place])).argmax(1).item())

    def learn(self, batch: int = 32, discount: float = 0.95) -> None:
        """Train on a sample of earlier steps, and update the target network."""
        happened = random.sample(self.memory, batch)
        places, moves, rewards, nexts, ends = (list(each) for each in zip(*happened, strict=True))
        valued = self.values(seen(places)).gather(1, mt.tensor(moves).unsqueeze(1)).squeeze(1)
        with mt.no_grad():
            to_come = self.slow(seen(nexts)).max(1).values * ~mt.tensor(ends)
        loss = F.smooth_l1_loss(valued, mt.tensor(rewards) + discount * to_come)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.values.parameters(), 1.0)
        self.optimizer.step()
        with mt.no_grad():
            for slow, quick in zip(self.slow.parameters(), self.values.parameters(), strict=True):
                slow.lerp_(quick, 0.05)

    def walk(self, curiosity: float = 0.0, learning: bool = False) -> tuple[list[Place], bool]:
        """Walk until the episode ends, at most 40 moves; return the path, and whether it succeeded.

        With the probability `curiosity` a move is random. With `learning`, the moves are stored and
        the network is trained.
        """
        path: list[Place] = [(0, 0)]
        while len(path) <= 40:
            curious = random.random() < curiosity
            move = random.randrange(len(MOVES)) if curious else self.best(path[-1])
            place, reward, end = after(path[-1], move)
            if learning:
                self.memory.append((path[-1], move, reward, place, end))
                if len(self.memory) >= 200:
                    self.learn()
            path.append(place)
            if end:
                return path, ISLAND[place[0]][place[1]] == "T"
        return path, False


def main(arguments: list[str] | None = None) -> tuple[bool, int]:
    """Train; return whether the agent finds the treasure, and in how many moves."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--walks", type=int, default=250)
    parser.add_argument("--backend", help="the backend (default: the current one)")
    options = parser.parse_args(arguments)
    with mt.use_backend(mt.get_backend(options.backend)):
        mt.manual_seed(0)
        random.seed(0)
        agent, found = Agent(), 0
        for number in range(1, options.walks + 1):
            found += agent.walk(curiosity=max(0.1, 1 - number / 100), learning=True)[1]
            if number % 50 == 0:
                CONSOLE.print(
                    f"walks {number - 49:3d} to {number:3d}: treasure found {found} times"
                )
                found = 0
        path, success = agent.walk()
    rows = [list(row) for row in ISLAND]
    names = {step: arrow for arrow, step in MOVES.items()}
    for (row, column), (below, beside) in itertools.pairwise(path):
        rows[row][column] = names.get((below - row, beside - column), "·")
    CONSOLE.print("\n".join(" ".join(row) for row in rows), highlight=False)
    CONSOLE.print(f"{'found' if success else 'did not find'} it in {len(path) - 1} moves")
    return success, len(path) - 1


if __name__ == "__main__":
    main()
