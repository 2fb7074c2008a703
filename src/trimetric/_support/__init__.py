"""What every part of the package may use: argument checks, progress, interruption, files of tensors."""
