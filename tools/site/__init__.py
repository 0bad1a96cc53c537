"""The documentation site: pages are staged from the repository's Markdown, and Zensical builds them."""
