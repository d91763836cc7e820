"""The benchmark harness: data sets, retrieval, measures, runs and their command line."""
