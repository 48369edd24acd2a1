"""What is measured: the tasks, their data, and what is promised of them."""
