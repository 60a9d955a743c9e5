# SPDX-License-Identifier: Apache-2.0
"""The little of PySpark that hands out tasks, for tests: PySpark itself is half a gigabyte."""


class TaskContext:
    """What a task knows of itself; each has a process of its own."""

    current = None

    def __init__(self, partition: int, attempt: int):
        self.partition, self.attempt = partition, attempt

    @classmethod
    def get(cls):
        return cls.current

    def partitionId(self) -> int:
        return self.partition

    def taskAttemptId(self) -> int:
        return self.attempt

    def run(self, function, items: list):
        TaskContext.current = self
        function(iter(items))
