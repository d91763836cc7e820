"""Chunkers of other people's evaluations, built anew from what they do, faults included.

They return spans as every chunker does. In their own terms, each module's `reference_chunks` gives
the same chunks with the ids, lines and offsets that the original gives them.
"""

from chunkers.reference._chunks import ReferenceChunk

__all__ = ["ReferenceChunk"]
