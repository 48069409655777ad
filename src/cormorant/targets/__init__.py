"""References that are no plain web page: files, repositories, video."""
