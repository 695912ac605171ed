"""Runs make in this repository."""

import os
import subprocess

from testkit.graded import ran
from tests.helpers import ROOT


def run_make(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = ["make", "-C", ROOT, "--no-print-directory", *arguments]
    return ran(*command, env=os.environ | environment)
