"""What every layer needs and no layer owns; it imports nothing of the project."""
