"""The frame of the playground: the list of pages at the side, and the first page.

Streamlit runs this file anew for each reader and after each change of what they can set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import streamlit as st

from play.contents import PageFile, page_files, stage_titles


def shown(page: PageFile) -> Callable[[], None]:
    """Return what shows a page below its title."""

    def show() -> None:
        st.title(page.title)
        st.markdown(page.summary)
        page.show()

    return show


def first_page(sections: dict[str, list[Any]], files: list[PageFile]) -> Callable[[], None]:
    """Return what shows the first page: all others, by their stages."""

    def show() -> None:
        st.title("The playground")
        st.markdown(
            "Six packages build on each other, from scalar operators to networks that learn. Each "
            "page lets you try what one of them does: that package computes what you see."
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
    """Show the page that the reader has chosen."""
    st.set_page_config(page_title="The playground", layout="wide")
    files, titles = list(page_files()), stage_titles()
    sections: dict[str, list[Any]] = defaultdict(list)
    for file in files:
        page = st.Page(shown(file), title=file.title, url_path=file.name)
        sections[titles[file.stage]].append(page)
    first = st.Page(first_page(sections, files), title="The playground", default=True)
    st.navigation({"": [first], **sections}).run()


main()
