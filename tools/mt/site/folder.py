"""The output folder of a site, which can be rebuilt without deleting other files.

A list in the folder contains each file that the site has written. A rebuild removes these first,
and no others.
"""

from __future__ import annotations

from pathlib import Path

from mt.errors import ToolError

LIST = ".made-by-mt-site"
"""The list of written files, one per line; a folder that contains it may be rebuilt."""


class SiteError(ToolError):
    """The site cannot be built in this folder."""


class SiteFolder:
    """The output folder of a site.

    Args:
        folder: it is created, or files of an earlier site in it are removed.

    Raises:
        SiteError: the folder is neither empty nor a site.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list = folder / LIST
        if folder.exists() and any(folder.iterdir()):
            if not self._list.is_file():
                raise SiteError(
                    f"{folder} is not empty and not a site: give a new or an empty folder."
                )
            self._remove()
        folder.mkdir(parents=True, exist_ok=True)
        self._list.write_text("")

    def _remove(self) -> None:
        """Remove the files of an earlier site, and folders that become empty."""
        files = [self._folder / path for path in self._list.read_text("utf-8").splitlines()]
        for file in files:
            file.unlink(missing_ok=True)
        folders = {folder for file in files for folder in file.relative_to(self._folder).parents}
        for folder in sorted(folders, reverse=True):  # inner ones first
            below = self._folder / folder
            if below.is_dir() and not any(below.iterdir()):
                below.rmdir()

    def file(self, path: str) -> Path:
        """Return a new file of the site, in a folder that exists.

        Raises:
            SiteError: the file exists, and was not written by the site.
        """
        file = self._folder / path
        if file.exists():
            raise SiteError(f"{file} is not part of the site and would be lost: move it elsewhere.")
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._list.open("a", encoding="utf-8") as listed:
            listed.write(f"{path}\n")
        return file
