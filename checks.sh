#!/usr/bin/env bash
# What CI checks, in the environment that is active: style, types, tests.
set -euo pipefail
cd "$(dirname "$0")"
ruff check .
ruff format --check .
pyright
lint-imports
OPENBLAS_NUM_THREADS=1 python -m pytest -q -n auto "$@"
