"""BERT encoders that run in this process: `weights` reads files, `graph` builds, `session` runs.

What stands on top of an encoder is the business of `inference.embedding` and `inference.reading`.
"""

import sys

# OpenVINO's model converter, which `import openvino` loads, reports the import to Google Analytics and keeps
# a number for it in the home folder. Neither it nor the package that reports is needed or loaded.
for _unwanted in ("openvino.tools.ovc", "openvino_telemetry"):
    sys.modules[_unwanted] = None  # type: ignore[assignment]
