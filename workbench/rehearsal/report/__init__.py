"""Shows what rehearsals found: terminal, JSON, page, comparison."""
