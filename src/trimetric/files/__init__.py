"""Files of pairs, matrices, edges and features: read fast, and refused with the line that is wrong.

Nothing is imported here, so that `tables.errors` costs a command line that only asks for help no NumPy.
"""
