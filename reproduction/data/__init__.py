"""Data that several experiments share; an experiment never imports another one."""
