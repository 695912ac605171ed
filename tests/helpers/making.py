"""Runs make in this repository."""

import os

from testkit.graded import ran
from tests.helpers import ROOT


def run_make(*arguments, **environment):
    command = ["make", "-C", ROOT, "--no-print-directory", *arguments]
    return ran(*command, env=os.environ | environment)
