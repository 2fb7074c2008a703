"""The steps of a training pass over paired rows, each in one pass over memory, forward and backward.

Every file has a function that is used where `fused.applies` says so, a definition in plain torch (which is also the
oracle of its tests, and the way to second derivatives), and loops in machine code.  The loops run on one thread and add
up in a fixed order, so a run that resumes ends with the same bits.
"""
