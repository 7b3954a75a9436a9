"""Right solutions of ``torch_multihead`` in other styles than the reference."""
