"""Trimetric's distances within other libraries.  Each module needs the library that it is named after."""
