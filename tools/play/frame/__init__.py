"""The main script, in a separate folder, because Streamlit would load `pages` next to it."""
