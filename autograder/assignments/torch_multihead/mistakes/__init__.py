"""Known mistakes of ``torch_multihead``, a module for each exercise."""
