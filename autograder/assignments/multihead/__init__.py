"""The assignment ``multihead``: its hidden checks and the mistakes that people make in it."""
