"""What grades minBERT; assignment.py says what it is."""
