"""What is left of a voice, and of its words: figures, attackers, reports. The command is `velavox audit`."""
