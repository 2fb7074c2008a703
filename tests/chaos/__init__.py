"""Kills commands with SIGKILL at random moments; what they end with must be as undisturbed (`make chaos`)."""
