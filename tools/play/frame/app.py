"""The main script: the list of pages in the sidebar, and the home page.

Streamlit runs this file for each user and after each interaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from mt.workspace import Workspace
from play.contents import PageFile, page_files


@cache
def stage_titles() -> list[str]:
    """Return the titles of the stages, by number."""
    stages = Workspace.read().stages.values()
    return [f"Stage {number} · {stage.name}" for number, stage in enumerate(stages)]


def shown(page: PageFile) -> Callable[[], None]:
    """Return a function that shows a page with its title."""

    def show() -> None:
        st.title(page.title)
        st.markdown(page.summary)
        page.show()

    return show


def main() -> None:
    """Show the selected page."""
    st.set_page_config(page_title="The playground", layout="wide")
    sections: dict[str, list[Any]] = defaultdict(list)
    summaries = []
    for file in page_files():
        page = st.Page(shown(file), title=file.title, url_path=file.name)
        sections[stage_titles()[file.stage]].append(page)
        summaries.append((page, file.summary))

    def home() -> None:
        st.title("The playground")
        st.markdown(
            "Six packages build on each other, from scalar operators to networks that learn. On "
            "each page you can try one of them: the package computes everything you see."
        )
        for page, summary in summaries:
            st.page_link(page)
            st.caption(summary)

    first = st.Page(home, title="The playground", default=True)
    st.navigation({"": [first], **sections}).run()


main()
