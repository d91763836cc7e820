"""Samples are seeded, nested, stratified and independent of the caller's order."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.building.built_queries import draw, folder_of


def _stratum(item: str) -> str:
    return item[0]


def _items(**sizes: int) -> list[str]:
    return [f"{stratum}{number}" for stratum, size in sizes.items() for number in range(size)]


def test_a_sample_does_not_depend_on_the_order_of_its_items() -> None:
    items = _items(a=30, b=5, c=1)
    first = draw(items, 10, 3, str, _stratum)
    assert draw(reversed(items), 10, 3, str, _stratum) == first
    assert list(first) == sorted(first)


def test_another_seed_chooses_others() -> None:
    items = _items(a=100)
    assert draw(items, 10, 1, str) != draw(items, 10, 2, str)


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    limit=st.integers(0, 130),
    seed=st.integers(0, 1 << 40),
)
def test_every_stratum_gets_its_share_to_within_one(
    sizes: list[int], limit: int, seed: int
) -> None:
    items = _items(**dict(zip("abcdef", sizes, strict=False)))
    chosen = draw(items, limit, seed, str, _stratum)
    assert len(chosen) == min(limit, len(items))
    shares = Counter(map(_stratum, chosen))
    # All strata are cut at one point t of the line, which takes n*t of each, rounded up or down.
    most = max((shares[one] - 1) / size for one, size in zip("abcdef", sizes, strict=False))
    least = min((shares[one] + 1) / size for one, size in zip("abcdef", sizes, strict=False))
    assert most <= least


@settings(max_examples=50, deadline=None)
@given(limit=st.integers(0, 40), seed=st.integers(0, 1 << 40))
def test_a_larger_sample_holds_the_smaller(limit: int, seed: int) -> None:
    items = _items(a=20, b=10, c=1)
    small = draw(items, limit, seed, str, _stratum)
    assert set(small) <= set(draw(items, limit + 1, seed, str, _stratum))


def test_no_limit_takes_all() -> None:
    assert draw(["b", "a"], None, 0, str) == ("a", "b")
    assert draw([], 3, 0, str) == ()


def test_items_are_taken_about_equally_often() -> None:
    items = _items(a=8, b=2, c=1, d=1)
    taken = Counter(one for seed in range(600) for one in draw(items, 4, seed, str, _stratum))
    # Each is expected 200 times, with a standard deviation of 11.5.
    assert all(145 < taken[item] < 255 for item in items)


def test_the_choice_is_the_one_of_earlier_releases() -> None:
    assert draw(_items(a=6, b=3), 4, 7, str, _stratum) == ("a2", "a3", "a4", "b0")


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("a.py", "."),
        ("lib/pkg/a.py", "lib"),
        ("services/billing/pay/a.py", "services/billing"),
        ("services/search/a.py", "services/search"),
        ("services/a.py", "services"),
        ("packages/ui/src/a.ts", "packages/ui"),
        ("packages/@acme/ui/src/a.ts", "packages/@acme/ui"),
        ("src/pkg/a.py", "src/pkg"),
        ("crates/core/src/lib.rs", "crates/core"),
        ("tests/services/billing/a.py", "tests"),
    ],
)
def test_the_folder_of_a_path_is_its_first_part_or_its_package(path: str, folder: str) -> None:
    assert folder_of(path) == folder


def test_the_folder_of_a_path_to_a_depth() -> None:
    path = "services/billing/pay/a.py"
    assert [folder_of(path, depth) for depth in (1, 2, 3, 4)] == [
        "services",
        "services/billing",
        "services/billing/pay",
        "services/billing/pay",
    ]


def test_a_sample_is_in_proportion_to_the_packages() -> None:
    sizes = {"billing": 40, "search": 20, "shipping": 20}
    paths = [f"services/{name}/{n}.py" for name, count in sizes.items() for n in range(count)]
    drawn = Counter(folder_of(path) for path in draw(paths, 8, 3, str, folder_of))
    assert drawn == {"services/billing": 4, "services/search": 2, "services/shipping": 2}
