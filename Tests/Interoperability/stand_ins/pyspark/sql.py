# SPDX-License-Identifier: Apache-2.0
"""Runs the task of each partition in a process of its own, and again if it fails, as often as Spark does."""

import multiprocessing

from pyspark import TaskContext

ATTEMPTS = 4


class Dataset:
    def __init__(self, partitions: list[list]):
        self.partitions = partitions

    def foreachPartition(self, function):
        processes = multiprocessing.get_context("fork")
        for partition, items in enumerate(self.partitions):
            for attempt in range(ATTEMPTS):
                task = TaskContext(partition, attempt=ATTEMPTS * partition + attempt)
                process = processes.Process(target=task.run, args=(function, items))
                process.start()
                process.join()
                if process.exitcode == 0:
                    break
            else:
                raise RuntimeError(f"the task of partition {partition} failed {ATTEMPTS} times")


class SparkContext:
    def parallelize(self, items: list, slices: int) -> Dataset:
        return Dataset([items[len(items) * n // slices : len(items) * (n + 1) // slices] for n in range(slices)])


class SparkSession:
    sparkContext = SparkContext()

    class builder:
        @staticmethod
        def master(name: str):
            return SparkSession.builder

        @staticmethod
        def getOrCreate():
            return SparkSession()
