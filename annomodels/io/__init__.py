"""Files and data frames to Annotations, and tables to files.

A file becomes a ``Source``. Readers of tools fill the rows of ``Records``; plain tables are read
from a ``Table``. Both give ``Columns`` of one question, and columns become ``Annotations``.
``FORMATS`` is the list of what is understood; a new format is one file and one line there.
May import errors, validation, coding and annotations.
"""
