"""The halves of a query set."""

import numpy as np
import pytest

from harness.stats.halves import dev_half


@pytest.mark.parametrize("corpora", [1, 3])
def test_clusters_stay_whole_and_halves_are_balanced_in_every_corpus(corpora):
    sizes = np.random.default_rng(1).integers(1, 9, 60)
    members = [(f"c{at % corpora}", f"f{at}") for at, n in enumerate(sizes) for _ in range(n)]
    dev = dev_half(members)
    halves = [{member for member, half in zip(members, dev, strict=True) if half == which}
              for which in (True, False)]  # fmt: skip
    assert not halves[0] & halves[1]
    for corpus in range(corpora):
        own = np.array([member[0] == f"c{corpus}" for member in members])
        assert abs(int((dev & own).sum()) - int((~dev & own).sum())) <= sizes.max()


def test_a_seed_gives_its_halves_whatever_the_order_of_queries():
    members = [("c", f"f{at // 3}") for at in range(60)]
    assert (dev_half(members, 3) == dev_half(members, 3)).all()
    assert (dev_half(members, 3) != dev_half(members, 4)).any()
    assert (dev_half(members[::-1], 3) == dev_half(members, 3)[::-1]).all()


def test_a_corpus_for_each_query_is_halved_by_the_clusters():
    members = [(f"corpus {at}", f"project {at % 7}") for at in range(70)]
    dev = dev_half(members)
    for project in range(7):
        assert len(set(dev[project::7].tolist())) == 1
    assert 20 <= dev.sum() <= 50


def test_one_cluster_has_no_halves():
    assert dev_half([("c", "f")] * 5).all()
