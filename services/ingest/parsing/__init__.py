"""File formats to extracted text; one module per format, imported when a file needs it."""
