# SPDX-License-Identifier: Apache-2.0
"""A running emulator of Google Play with a receiver of its pushes."""

import pytest
from play import Play, Receiver


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def play(tmp_path, receiver):
    play = Play(tmp_path, receiver, "--grace-period", "7")
    yield play
    assert play.emulator.stop() == 0
