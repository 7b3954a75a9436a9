"""The hidden checks of ``torch_multihead``, a module for each exercise."""
