"""Files and data frames to Annotations, and tables to files.

A file becomes a ``Source``. Readers fill ``Records``, a long table with the rows of each question;
those of several files are joined, one question is chosen, and its ``Columns`` become
``Annotations``.
``FORMATS`` is the list of what is understood; a new format is one file and one line there.
May import errors, validation, coding and annotations.
"""
