"""Names of what belongs to one phase of gates that switch."""


def in_phase(text: str, begin: int) -> str:
    """Return what something is called in the phase from a step on.

    Example:
        >>> in_phase("common", 0), in_phase("common", 150)
        ('common', 'common, step 150')
    """
    return f"{text}, step {begin}" if begin else text
