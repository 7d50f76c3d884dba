"""The frame of the playground: a folder without `pages`, where Streamlit would look by itself."""
