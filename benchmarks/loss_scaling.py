"""Time of the quadratic term, factored and literal, against the number of nodes.

Run with `python benchmarks/loss_scaling.py`; it takes seconds. Proposition 1 says N^3 for the
factored version; the literal sum is N^4. Exponents are fitted to the larger half of the
sizes, where the fixed cost of a call no longer shows; the best of several calls counts, so
that other programs on the machine disturb the numbers less.
"""

import platform
import time

import numpy as np
import torch

from grale.transport.partial_fgw import CROSS_ENTROPY, quadratic_cost, quadratic_cost_reference

SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128)
LARGEST_LITERAL = 48
BATCH, NUM_CLASSES, REPEATS = 4, 4, 7


def seconds(cost, num_nodes: int) -> float:
    """Best time of one call on a small random batch."""
    generator = torch.Generator().manual_seed(num_nodes)
    plan = torch.rand(BATCH, num_nodes, num_nodes, generator=generator).softmax(dim=2)
    true, pred = (
        torch.rand(BATCH, num_nodes, num_nodes, NUM_CLASSES, generator=generator) for _ in range(2)
    )
    cost(plan, true, pred, CROSS_ENTROPY)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        cost(plan, true, pred, CROSS_ENTROPY)
        times.append(time.perf_counter() - began)
    return min(times)


def exponent(times: dict[int, float]) -> float:
    """Slope of log time over log size, on the larger half of the sizes."""
    sizes = sorted(times)[len(times) // 2 :]
    return float(np.polyfit(np.log(sizes), np.log([times[size] for size in sizes]), 1)[0])


def main() -> None:
    """Print a line for each size and the fitted exponents."""
    torch.set_num_threads(1)
    machine = platform.processor() or platform.machine()
    print(f"{machine}, torch {torch.__version__}, one thread, batch of {BATCH}, float32")
    factored, literal = {}, {}
    for size in SIZES:
        factored[size] = seconds(quadratic_cost, size)
        line = f"N = {size:3d}   factored {1e3 * factored[size]:8.3f} ms"
        if size <= LARGEST_LITERAL:
            literal[size] = seconds(quadratic_cost_reference, size)
            line += f"   literal {1e3 * literal[size]:9.3f} ms"
        print(line)
    print(f"factored: time ~ N^{exponent(factored):.2f} (operations: N^3)")
    print(f"literal:  time ~ N^{exponent(literal):.2f} (operations: N^4)")


if __name__ == "__main__":
    main()
