"""The metrics and statistics of memorybench (commit 5008c6c), faults included; own code.

Its tables of numbers and its rules are described, not copied. Lines are as the records give them.
"""
