from chunkers.testing import check_chunker


def test_it_conforms():
    check_chunker("blank-lines:max_size=200").raise_for_failures()
