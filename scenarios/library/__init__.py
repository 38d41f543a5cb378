"""The bundled scenarios."""
