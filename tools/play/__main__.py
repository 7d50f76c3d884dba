"""Start the playground: interactive pages for each stage.

hatch run play
hatch run play --server.port=8600

Further options are those of `streamlit run`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from streamlit.web import cli

APP = Path(__file__).with_name("frame") / "app.py"
PROMISED = ("--server.address=localhost", "--browser.gatherUsageStats=false")
"""The server listens on this machine only, and Streamlit collects no usage statistics.

Command-line options have precedence over environment variables and configuration files.
"""

if __name__ == "__main__":
    cli.main(["run", str(APP), *sys.argv[1:], *PROMISED])
