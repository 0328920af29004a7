"""Finished derivation steps, kept between runs: JSON in the user's cache folder, keyed by content.

Nothing in the cache is trusted for a proof. A stored spectrum is checked again, exactly, when it
is read (:mod:`symreln.cache.spectra`). A stored set of files (:mod:`symreln.cache.outputs`) is
handed out as it was written, and whoever can write into the user's private cache folder could as
well change the files in the results' folder: `symreln verify` checks either, with its own code.
"""
