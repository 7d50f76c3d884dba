"""The folder of a site, which may be built anew, and where what somebody else wrote stays.

A list in the folder names each file that the site has written. When it is built anew, these are
removed first, and no others.
"""

from __future__ import annotations

from pathlib import Path

from mt.errors import ToolError

LIST = ".made-by-mt-site"
"""The file with the paths of all others, one a line; a folder that has it may be used again."""


class SiteError(ToolError):
    """The site cannot be built where it was asked for."""


class SiteFolder:
    """Where a site is written.

    Args:
        folder: it is made, or else rid of what was written by an earlier one.

    Raises:
        SiteError: something else is in the folder, and nothing of a site.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list = folder / LIST
        if folder.exists() and any(folder.iterdir()):
            if not self._list.is_file():
                raise SiteError(
                    f"{folder} holds something else: give a new folder, or an empty one."
                )
            self._remove()
        folder.mkdir(parents=True, exist_ok=True)
        self._list.write_text("")

    def _remove(self) -> None:
        """Remove the files of an earlier site, and folders that are empty then."""
        files = [self._folder / path for path in self._list.read_text("utf-8").splitlines()]
        for file in files:
            file.unlink(missing_ok=True)
        folders = {folder for file in files for folder in file.relative_to(self._folder).parents}
        for folder in sorted(folders, reverse=True):  # those within others first
            below = self._folder / folder
            if below.is_dir() and not any(below.iterdir()):
                below.rmdir()

    def file(self, path: str) -> Path:
        """Return a new file of the site, in a folder that exists.

        Raises:
            SiteError: there is one that the site has not written.
        """
        file = self._folder / path
        if file.exists():
            raise SiteError(f"{file} is not from this site and would be lost: move it elsewhere.")
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._list.open("a", encoding="utf-8") as listed:
            listed.write(f"{path}\n")
        return file
