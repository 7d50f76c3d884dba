"""The main script: the list of pages in the sidebar, and the home page.

Streamlit runs this file for each user and after each interaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from play.contents import PageFile, page_files, stage_titles

STYLE = Path(__file__).parents[1] / "style.css"


def shown(page: PageFile) -> Callable[[], None]:
    """Return a function that shows a page with its title."""

    def show() -> None:
        st.title(page.title)
        st.markdown(page.summary)
        page.show()

    return show


def first_page(sections: dict[str, list[Any]], files: list[PageFile]) -> Callable[[], None]:
    """Return a function that shows the home page: a list of all pages, by stage."""

    def show() -> None:
        st.title("The playground")
        st.markdown(
            "Six packages build on each other, from scalar operators to networks that learn. On "
            "each page you can try one of them: the package computes everything you see."
        )
        summaries = {file.title: file.summary for file in files}
        for title, pages in sections.items():
            st.subheader(title)
            for column, page in zip(st.columns(max(len(pages), 3)), pages, strict=False):
                with column.container(border=True, height="stretch"):
                    st.page_link(page)
                    st.caption(summaries[page.title])

    return show


def main() -> None:
    """Show the selected page."""
    st.set_page_config(page_title="The playground", layout="wide")
    st.html(STYLE)
    files, titles = list(page_files()), stage_titles()
    sections: dict[str, list[Any]] = defaultdict(list)
    for file in files:
        page = st.Page(shown(file), title=file.title, url_path=file.name)
        sections[titles[file.stage]].append(page)
    first = st.Page(first_page(sections, files), title="The playground", default=True)
    st.navigation({"": [first], **sections}).run()


main()
