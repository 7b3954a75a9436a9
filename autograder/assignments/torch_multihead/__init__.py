"""What must stay hidden of ``torch_multihead``."""
