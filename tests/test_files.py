"""Files are replaced whole, and nothing else is."""

import os

import pytest

from horseshoe.files import write_file, write_text


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_folder_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(OSError, match="is not an ordinary file"):
            write_file(path, lambda file: file.write(b"x"))
    assert pipe.is_fifo()
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
