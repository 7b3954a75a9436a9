"""Right solutions in deliberately different styles, as students write: what fair checks must let pass."""
