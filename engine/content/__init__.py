"""What is said, not only who says it: sensitive words are found in the raw voice and hidden in the anonymized one."""
