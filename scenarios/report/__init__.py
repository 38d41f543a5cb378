"""Reports on studies and links: tables, link check, tolerance."""
