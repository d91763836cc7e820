"""The colours that the stylesheet of the report sets."""

import re
from importlib.resources import files

from harness.reports.figures.style import LIGHT

STYLE = (files("harness.reports.page") / "templates/report.css").read_text("utf-8")


def colours(css):
    """The variables that a part of the stylesheet sets to a colour."""
    return dict(re.findall(r"--([\w-]+): (#\w+)", css))


# A dark page is asked for by the system, or by the page's own switch.
ON_LIGHT, *ON_DARK = map(
    colours, re.split(r"@media \(prefers|:root\[data-theme", STYLE.partition("*, ::")[0])
)
DARK = {name: color for name, color in ON_DARK[0].items() if name in LIGHT}
"""The colours of figures on a dark page."""
