"""What assignments on an attention layer share: inputs, checks, analyses, mistakes. It is no assignment."""
