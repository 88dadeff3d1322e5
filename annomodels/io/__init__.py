"""Files and data frames to Annotations, and tables to files.

A file becomes a ``Source``, a source a ``Table``, a table ``Columns``, and columns ``Annotations``.
``FORMATS`` is the list of what is understood; a new format is one file and one line there.
May import errors, validation, coding and annotations.
"""
