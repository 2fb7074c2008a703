"""A model compiled ahead of time, and a C++ program that answers its distances without Python."""
