"""Finding an assignment's parts in a course; each assignment's hidden checks lie in a folder of their own."""
