"""Compute as other processors do."""

from tensormark.sandbox.worker_process import PROCESSOR

# variables with which torch and MKL use the plain instructions only, which all processors have
PLAIN = dict(zip(PROCESSOR, ("default", "COMPATIBLE"), strict=True))
