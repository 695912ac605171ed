"""Programs that make minBERT: its sentences, checkpoint, threshold, diagrams and terms."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # the repository, which is minBERT's folder
