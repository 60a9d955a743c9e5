# SPDX-License-Identifier: Apache-2.0
"""usage: measure.py SECONDS COMMAND…

Runs a command with a limit on its processor time, and writes the most memory that it had resident, in
kilobytes, as the last line of standard error. A process of its own, because what a child is charged with
begins at what its parent has resident.
"""

import resource
import subprocess
import sys

seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
code = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code if code >= 0 else 128 - code)
