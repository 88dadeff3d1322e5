"""The command line: one file per command in ``commands``, the manners they share beside it.

May import everything; nothing imports it. What ``annomodels --help`` reaches imports only click.
"""
