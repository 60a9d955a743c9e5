# SPDX-License-Identifier: Apache-2.0
"""Names the system that a wheel with the library in it is for. Without the library it is for every one."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        tag = os.environ.get("RECEIPTKIT_WHEEL_TAG")
        if tag:
            build_data["tag"] = tag
            build_data["pure_python"] = False
