"""Data sets of images, shipped or read from the files of their authors."""
