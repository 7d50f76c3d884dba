"""`python -m mt_cuda.bench`."""

import sys

from mt_cuda.bench import main

sys.exit(main())
