"""The hidden checks, one module an exercise, and the random inputs they draw."""
