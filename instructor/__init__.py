"""What makes minBERT: its sentences, its checkpoint, its threshold, its figures, its terms."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # of this repository, which is minBERT's folder
