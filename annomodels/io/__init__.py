"""Read files and data frames as Annotations, and write tables to files.

A file becomes a ``Source``. Readers fill ``Records``, a long table with the rows of each question.
The records of several files are joined. The ``Columns`` of one question become ``Annotations``.
``FORMATS`` lists the supported formats; a new format needs a reader and an entry in shapes.toml.
May import errors, validation, coding and annotations.
"""
