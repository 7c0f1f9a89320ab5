"""Graphs per second of the COLORING generator, on one core.

Run with `OMP_NUM_THREADS=1 python benchmarks/coloring_speed.py`; processor time is counted,
so that other programs on the machine disturb the numbers less.
"""

import platform
import time

from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring

COUNT = 4096

print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
for name, config in COLORING_VARIANTS.items():
    generate_coloring(128, config, seed=0)
    began, began_cpu = time.perf_counter(), time.process_time()
    generate_coloring(COUNT, config, seed=1)
    wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    print(f"{name}: {COUNT / cpu:7.0f} graphs/s of processor, {COUNT / wall:7.0f} by the clock")
