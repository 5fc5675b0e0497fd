"""HTML pages: one file that needs no network, for a browser with or without dark mode, a phone or a desk."""
