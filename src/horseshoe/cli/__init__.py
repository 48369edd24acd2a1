"""The command line: one file a command, a line in `app` each, and in `shared` what they have in common."""
