"""How often programs that grade a class look for garbage that reference counts do not find."""

import gc

#: New objects until the next search. Python's own 700 means hundreds of searches for each submission, among
#: all that modules and known mistakes have made for good.
NEW_OBJECTS = 20_000


def rarely_search_for_garbage() -> None:
    """Let this process search less often, and never again among what it holds by now."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
