# Install and export: written by the setup part.
