"""The store of vectors: what is put in comes out, whatever else happens."""

import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from chunkers.errors import InputError
from harness.embedding.vector_store import StoredVector, VectorStore, text_key


def row(seed: int, width: int = 4) -> StoredVector:
    values = np.random.default_rng(seed).normal(size=width).astype(np.float32)
    return StoredVector(values, tokens=seed, seconds=0.5)


def test_rows_come_back_bit_for_bit(tmp_path):
    store = VectorStore(tmp_path / "a" / "v.sqlite")
    rows = {text_key(f"t{i}"): row(i) for i in range(1200)}
    store.put("model", "name", rows.items())
    found = store.get("model", list(rows))
    assert found.keys() == rows.keys()
    for key, one in rows.items():
        assert (found[key].vector == one.vector).all()
        assert (found[key].tokens, found[key].seconds) == (one.tokens, one.seconds)
    assert store.counts() == [("name", "model", 1200)]


def test_the_share_of_a_batch_need_not_be_one_over_a_whole_number(tmp_path):
    store = VectorStore(tmp_path / "v.sqlite")
    store.put("m", "m", [(b"x", StoredVector(row(1).vector, 1, 0.5, batch=2.5))])
    assert store.get("m", [b"x"])[b"x"].batch == 2.5


def test_another_model_finds_nothing(tmp_path):
    store = VectorStore(tmp_path / "v.sqlite")
    store.put("model A", "a", [(text_key("x"), row(1))])
    assert store.get("model B", [text_key("x")]) == {}


def test_a_stored_row_stays_as_it_is(tmp_path):
    store = VectorStore(tmp_path / "v.sqlite")
    store.put("m", "m", [(text_key("x"), row(1))])
    store.put("m", "m", [(text_key("x"), row(2)), (text_key("y"), row(3))])
    found = store.get("m", [text_key("x"), text_key("y")])
    assert (found[text_key("x")].vector == row(1).vector).all()
    assert (found[text_key("y")].vector == row(3).vector).all()


def test_texts_with_lone_surrogates_have_an_address():
    assert text_key("\udcff") != text_key("?")


@pytest.mark.parametrize("damage", [b"\x00" * 16, b"\x00" * 15, "text", None], ids=repr)
def test_a_damaged_vector_is_noticed_and_can_be_stored_again(tmp_path, damage):
    path = tmp_path / "v.sqlite"
    VectorStore(path).put("m", "m", [(text_key("x"), row(1)), (text_key("y"), row(2))])
    with sqlite3.connect(path) as db:
        if damage is None:  # one changed byte in the file
            db.execute("UPDATE vectors SET vector=substr(vector, 1, 15) || x'00' WHERE tokens=1")
        else:
            db.execute("UPDATE vectors SET vector=? WHERE text=?", (damage, text_key("x")))
    store = VectorStore(path)
    with pytest.warns(UserWarning, match=r"v\.sqlite: 1 stored vector damaged"):
        vectors = store.get("m", [text_key("x"), text_key("y")])
    assert vectors.keys() == {text_key("y")}
    assert (vectors[text_key("y")].vector == row(2).vector).all()
    store.put("m", "m", [(text_key("x"), row(1))])
    assert (store.get("m", [text_key("x")])[text_key("x")].vector == row(1).vector).all()


def torn(tmp_path, damage):
    """A store of 2,000 vectors after a change of its file: the vectors that are left of it."""
    path = tmp_path / "v.sqlite"
    rows = {text_key(f"t{i}"): row(i, 100) for i in range(2000)}
    store = VectorStore(path)
    for model in ("a", "b"):
        store.put(model, f"name {model}", rows.items())
    store.close()
    data = bytearray(path.read_bytes())
    path.write_bytes(damage(data))
    store = VectorStore(path)
    with pytest.warns(UserWarning, match="damaged"):
        vectors = {model: store.get(model, list(rows)) for model in ("a", "b")}
    for found in vectors.values():
        assert all((found[key].vector == rows[key].vector).all() for key in found)
    for model in ("a", "b"):
        store.put(model, f"name {model}", rows.items())
        assert store.get(model, list(rows)).keys() == rows.keys()
    assert {count for _, _, count in store.counts()} == {2000}
    assert [name for name, _, _ in store.counts()] == ["name a", "name b"]
    return sum(map(len, vectors.values())), len(data) // 4096


def pages(data, *numbers):
    for number in numbers:
        data[number * 4096 : (number + 1) * 4096] = b"\xaa" * 4096
    return data


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_damaged_page_costs_the_vectors_below_it_alone(tmp_path, at):
    kept, _ = torn(tmp_path, lambda data: pages(data, int(len(data) // 4096 * at)))
    assert 4000 - 150 <= kept < 4000


def test_several_damaged_pages_cost_the_vectors_below_them_alone(tmp_path):
    kept, _ = torn(tmp_path, lambda data: pages(data, 50, 51, 120, 300))
    assert 4000 - 600 <= kept < 4000


def test_a_changed_byte_costs_one_vector(tmp_path):
    def damage(data):
        data[data.index(row(7, 100).vector.tobytes()) + 9] ^= 1
        return data

    assert torn(tmp_path, damage)[0] == 3999


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_of_a_cut_file_the_rest_is_kept(tmp_path, share):
    kept, _ = torn(tmp_path, lambda data: data[: int(len(data) * share)])
    assert 4000 * share * 0.5 < kept < 4000


def test_of_a_file_that_is_no_store_nothing_is_kept_but_the_file(tmp_path):
    path = tmp_path / "v.sqlite"
    data = b"this is no database, and long enough to be read as one" * 100
    path.write_bytes(data)
    store = VectorStore(path)
    with pytest.warns(UserWarning, match="it keeps 0 vectors"):
        store.open()
    store.put("m", "m", [(text_key("x"), row(1))])
    assert store.counts() == [("m", "m", 1)]
    assert (tmp_path / "v.sqlite.damaged").read_bytes() == data


def test_the_vectors_of_a_model_are_removed_alone(tmp_path):
    store = VectorStore(tmp_path / "v.sqlite")
    for model in ("a", "b"):
        store.put(model, model, [(text_key("x"), row(1))])
    store.remove(["a", "unknown"])
    assert store.counts() == [("b", "b", 1)]
    assert (store.width(["a"]), store.width(["a", "b"])) == (None, 4)


EARLIER = """
    CREATE TABLE models (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
    CREATE TABLE vectors (
        model INTEGER NOT NULL, text BLOB NOT NULL, tokens INTEGER NOT NULL, seconds REAL NOT NULL,
        batch INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text)) WITHOUT ROWID;
    INSERT INTO models VALUES (1, 'm', 'm');
    PRAGMA user_version=1;
"""


def test_a_store_without_check_sums_is_read_and_goes_on(tmp_path):
    path = tmp_path / "v.sqlite"
    db = sqlite3.connect(path)
    db.executescript(EARLIER)
    old = (1, text_key("x"), 7, 0.5, 1, row(1).vector.tobytes())
    db.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)", old)
    db.commit()
    db.close()
    for _ in range(2):
        store = VectorStore(path)
        store.put("m", "m", [(text_key("y"), row(2))])
        found = store.get("m", [text_key("x"), text_key("y")])
        assert (found[text_key("x")].vector == row(1).vector).all()
        assert (found[text_key("y")].vector == row(2).vector).all()
        store.close()


def test_another_schema_is_refused(tmp_path):
    path = tmp_path / "v.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(InputError, match="schema 99"):
        VectorStore(path).open()


WRITER = """
    import sys
    from pathlib import Path
    import numpy as np
    from harness.embedding.vector_store import StoredVector, VectorStore, text_key
    store = VectorStore(Path(sys.argv[1]))
    for i in range(300):
        vector = np.full(8, i, dtype=np.float32)
        store.put("m", "m", [(text_key(f"shared {i}"), StoredVector(vector, i, 0.0))])
        store.put("m", "m", [(text_key(f"{sys.argv[2]} {i}"), StoredVector(vector, i, 0.0))])
        print(i, flush=True)
"""


def writer(path, name):
    code = textwrap.dedent(WRITER)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path), name], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_write_at_once(tmp_path):
    path = tmp_path / "v.sqlite"
    writers = [writer(path, name) for name in ("a", "b")]
    for one in writers:
        one.communicate(timeout=120)
        assert one.returncode == 0
    assert VectorStore(path).counts() == [("m", "m", 900)]


def test_a_kill_leaves_whole_rows_alone(tmp_path):
    path = tmp_path / "v.sqlite"
    one = writer(path, "a")
    for line in one.stdout:
        if int(line) == 40:
            one.kill()
            break
    one.wait()
    store = VectorStore(path)
    found = store.get("m", [text_key(f"shared {i}") for i in range(300)])
    assert len(found) >= 41
    for i in range(41):
        assert (found[text_key(f"shared {i}")].vector == i).all()
    store.put("m", "m", [(text_key("after"), row(1))])
