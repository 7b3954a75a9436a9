"""The hidden checks, one module an exercise; those of the whole layer are put together in one."""
