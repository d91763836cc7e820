"""Clusters and strata by hand."""

import numpy as np

from harness.stats.clusters import clusters_of


def corpus(name, clusters):
    return [(name, f"file {at}") for at in range(clusters)]


def test_a_corpus_of_five_clusters_is_a_stratum():
    clusters = clusters_of([*corpus("one", 5), *corpus("two", 6), ("two", "file 0")])
    assert clusters.sizes.tolist() == [1] * 5 + [2] + [1] * 5
    assert clusters.stratum.tolist() == [0] * 5 + [1] * 6
    assert clusters.freedom == 9


def test_corpora_of_few_clusters_are_pooled_and_their_clusters_go_by_name():
    clusters = clusters_of([*corpus("one", 2), *corpus("two", 2), *corpus("big", 5)])
    assert clusters.sizes.tolist() == [2, 2, 1, 1, 1, 1, 1]
    assert clusters.stratum.tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_a_lone_cluster_is_joined_by_the_corpus_with_the_fewest():
    clusters = clusters_of([*corpus("lone", 1), *corpus("big", 6), *corpus("small", 5)])
    assert np.bincount(clusters.stratum).tolist() == [5, 6]
    assert clusters.sizes.sum() == 12


def test_the_order_of_queries_does_not_matter():
    members = [*corpus("one", 5), *corpus("two", 7), ("one", "file 3")]
    values = np.arange(13.0)[:, None]
    sums = clusters_of(members).sums(values)
    assert clusters_of(members[::-1]).sums(values[::-1]).tolist() == sums.tolist()


def test_residuals_are_what_the_mean_of_the_stratum_leaves():
    clusters = clusters_of([*corpus("one", 5), ("one", "file 0")])
    sums = clusters.sums(np.array([1.0, 0, 0, 0, 0, 2.0])[:, None])
    assert clusters.residuals(sums)[:, 0].tolist() == [2.0, -0.5, -0.5, -0.5, -0.5]
