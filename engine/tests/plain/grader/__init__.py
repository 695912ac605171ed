"""What grades an assignment of plain functions."""
