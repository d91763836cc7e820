import math

import pytest

from harness.parity.javascript import to_fixed, total, trim


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (12.25, 1, "12.3"),  # a tie in binary too, where Python says 12.2
        (-12.25, 1, "-12.3"),
        (0.0625, 3, "0.063"),
        (2.5, 0, "3"),
        (1.005, 2, "1.00"),  # the double lies below
        (0.000001, 7, "0.0000010"),
        (-0.04, 1, "-0.0"),
        (-0.0, 2, "0.00"),
        (0.0, 0, "0"),
        (1e20, 2, "100000000000000000000.00"),
        (1.5e21, 2, "1.5e+21"),
        (5e-324, 1, "0.0"),
        (math.nan, 1, "NaN"),
        (math.inf, 1, "Infinity"),
        (-math.inf, 1, "-Infinity"),
    ],
)
def test_to_fixed_rounds_the_double_with_ties_away_from_zero(number, digits, text):
    assert to_fixed(number, digits) == text


def test_sum_goes_from_left_to_right_without_correction():
    assert total([0.1] * 10) == 0.9999999999999999
    assert total([1e16, 1.0, 1.0, -1e16]) == 0.0
    assert total([]) == 0.0


def test_trim_takes_what_javascript_calls_white_space():
    assert trim("\ufeff\u00a0\u2003 a b \u3000\u2029\n") == "a b"
    assert trim("\x1c\x85a\u180e\u200b") == "\x1c\x85a\u180e\u200b"
