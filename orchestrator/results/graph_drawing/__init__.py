"""Pictures of a topology: for a terminal (`braille`) and for a page (`svg`).

Positions come from `pame.topology.layout`; nothing here opens a file. May import: `pame` and numpy.
"""
