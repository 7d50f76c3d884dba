"""The frame: its pages are the files of a folder, and it serves only this machine."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import play
from play.__main__ import main
from play.contents import PageFile, page_files, stage_titles
from play.testing import Reader, answers, served

FILES = list(page_files())
WIDTHS = (390, 1280)


def test_a_page_is_a_file_and_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "stage2_views.py").write_text('"""Views: what they see.\n\nMore."""\n')
    (tmp_path / "stage0_sums.py").write_text('"""Sums: of: numbers."""\n')
    (tmp_path / "__init__.py").write_text('"""The pages."""\n')
    found = [(page.stage, page.name, page.title, page.summary) for page in page_files(tmp_path)]
    assert found == [(0, "sums", "Sums", "Of: numbers."), (2, "views", "Views", "What they see.")]


@pytest.mark.parametrize("text", ["", '"""Views."""', '"""Views: """'])
def test_a_page_without_a_title_or_a_summary_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "stage2_views.py").write_text(text)
    with pytest.raises(ValueError, match=r"stage2_views.py: the docstring must start with"):
        list(page_files(tmp_path))


@pytest.mark.browser  # which is run where Streamlit is
def test_the_page_of_the_readme_is_one(tmp_path: Path) -> None:
    testing = pytest.importorskip("streamlit.testing.v1")
    text = (Path(play.__file__).parent / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "stage1_sums.py").write_text(code)
    assert [page.title for page in page_files(tmp_path)] == ["Sums"]
    shown = testing.AppTest.from_string(f"{code}\nshow()").run()
    shown = shown.slider[0].set_value(2.5).run()
    assert shown.metric[0].value == "2.5"


def test_addresses_and_titles_are_not_taken_twice() -> None:
    assert len({page.name for page in FILES}) == len({page.title for page in FILES}) == len(FILES)
    assert all(page.stage < len(stage_titles()) for page in FILES)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eight", "8.5", "٣"])
def test_an_invalid_port_is_an_error(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([f"--port={port}"])
    assert "is not a port number from 1 to 65535" in capsys.readouterr().err


def test_without_streamlit_the_error_explains_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("play.__main__.find_spec", lambda name: None)
    assert main([]) == 1
    assert "use `hatch run play`" in capsys.readouterr().err


def test_a_port_in_use_is_an_error(anywhere: Reader) -> None:
    port = anywhere.address.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "play", "--port", port], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"port {port} cannot be used (Address already in use): choose another" in done.stderr


def another_address() -> str:
    """Return an address of this machine other than localhost."""
    with socket.socket(type=socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # which sends nothing, but finds the way out
        except OSError:  # of a machine without a network
            return "127.0.0.2"
        return str(asked.getsockname()[0])


def outside(reader: Reader) -> list[str]:
    """Return the requests of the page to other servers."""
    ours = (reader.address, "data:", "blob:", "ws://localhost")
    return [url for url in reader.page.requests() if not url.startswith(ours)]


def test_only_this_machine_is_served(reader: Reader) -> None:
    insisting = {
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true",
    }
    with served(**insisting) as address:
        port = int(address.rpartition(":")[2])
        with socket.create_connection(("localhost", port)):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((another_address(), port))
        guest = Reader(reader.page, address)
        guest.open("")
        assert not outside(guest)
        reader.open("")  # before the other server goes


def test_the_first_page_leads_to_every_other(reader: Reader) -> None:
    reader.open("")
    for page in FILES:
        reader.sees(page.summary)
    for page in FILES:
        reader.until(f"document.querySelector('[data-testid=stMain] a[href$={page.name}]')")


@pytest.mark.parametrize("page", FILES, ids=lambda page: page.name)
def test_a_page_fits_into_every_window_and_loads_nothing_from_outside(
    reader: Reader, page: PageFile
) -> None:
    reader.open(page.name)
    assert reader.text("[data-testid=stMain] h1") == page.title
    for width in WIDTHS:
        reader.page.resize(width, 900)
        for part in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
            reader.until(f"innerWidth === {width} && {part}.scrollWidth <= innerWidth")
    assert not outside(reader)


def test_a_dark_screen_gets_dark_pages(reader: Reader) -> None:
    ground = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    reader.open("")
    light = reader.page.value(ground)
    reader.page.prefer("dark")
    reader.until(f"{ground} !== {light!r}")


def test_a_page_that_there_is_not_leads_to_the_first(reader: Reader) -> None:
    reader.open("nothing")
    reader.sees("Page not found", "body")
    reader.sees("The playground")
    assert "does not seem to exist" in " ".join(reader.page.complaints())
    assert answers(reader.address)
