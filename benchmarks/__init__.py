"""What is measured, and against whom: each module runs both sides in one go and prints a ratio."""
