"""Runs beside a submission, without right answers: these exercises need nothing of it."""
