"""Advises on programs, or sweeps their meshes, on a Dask cluster: pip install dask distributed

    python examples/advise_on_cluster.py examples/first.mlir examples/mlp.mlir
    python examples/advise_on_cluster.py --scheduler tcp://…:8786 --sweep 'data=1..8 x model=1,2' *.mlir

Without --scheduler, the cluster is one of processes on this machine. Programs do not depend on each other, so
each is a task; the texts are sent to the workers, which need sdyopt only.
"""

import argparse
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed

import sdyopt


def look(name: str, text: str, sizes: str | None) -> tuple[str, str]:
    """What a worker computes: the advice on a program, or the figures on each mesh."""
    module = sdyopt.parse(text)
    # One process for each task, because the cluster has a worker for each processor.
    return name, str(sdyopt.mesh_sweep(module, sizes) if sizes else module.advise(jobs=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheduler", help="the address of a running cluster")
    parser.add_argument("--sweep", metavar="SIZES", help="sweep meshes of these sizes in place of advice")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    # Workers that are no daemons may start processes of their own, which a sweep does.
    cluster = arguments.scheduler or LocalCluster(
        threads_per_worker=1, processes=True, dashboard_address=None
    )
    with Client(cluster) as client:
        tasks = [
            client.submit(look, path.name, path.read_text(encoding="utf-8"), arguments.sweep)
            for path in arguments.programs
        ]
        for task in as_completed(tasks):
            name, text = task.result()
            print(f"{name}\n{text}")


if __name__ == "__main__":
    main()
