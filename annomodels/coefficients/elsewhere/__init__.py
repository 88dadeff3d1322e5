"""Our coefficients beside the functions of other packages, as data.

``row`` says what a comparison holds, ``in_python`` and ``in_r_and_java`` list them by package, and
``table`` gathers and prints them. Imports nothing from the rest of the package.
"""
