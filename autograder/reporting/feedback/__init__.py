"""What students get back: one page, the same as Markdown and as plain text, made of harmless parts alone."""
