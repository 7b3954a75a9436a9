"""Formulas for a page that loads nothing: TeX becomes MathML, which browsers show by themselves.

The library's own string is never used, since it lets signs through that open tags; its tree is written out
here, with known elements and attributes alone. What it does not understand is shown as it was typed.
"""

import html
import re
from functools import lru_cache
from xml.etree.ElementTree import Element

from latex2mathml.converter import Converter
from markupsafe import Markup

#: Longer formulas, and those that define macros (which may grow without end), are shown as they were typed.
MAX_LENGTH = 4000
_MACROS = re.compile(r"\\(?:[a-z]*newcommand|newenvironment|def|[egx]def|let|futurelet)(?![A-Za-z])")

_ELEMENT_NAMES = """
math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover
mmultiscripts mprescripts none mtable mtr mtd mlabeledtr mstyle mpadded mphantom menclose merror
"""
_ELEMENTS = frozenset(_ELEMENT_NAMES.split())
_ATTRIBUTE_NAMES = """
display displaystyle scriptlevel stretchy fence separator form lspace rspace symmetric largeop
movablelimits minsize maxsize accent accentunder linethickness mathvariant width height depth voffset
columnalign rowalign columnspacing rowspacing columnlines rowlines notation
"""
_ATTRIBUTES = frozenset(_ATTRIBUTE_NAMES.split())
_VALUE = re.compile(r"[A-Za-z0-9 .%+-]*")


@lru_cache(maxsize=4096)
def formula(tex: str, *, block: bool) -> Markup:
    """A formula as MathML; as code where it cannot be shown otherwise. Never raises."""
    tree = _tree(tex, block=block)
    if tree is None:
        typed = Markup("<code>{}</code>").format(tex.strip())
        return Markup('<span class="formula">{}</span>').format(typed) if block else typed
    shown = Markup('<math display="{}" alttext="{}">{}</math>').format(
        "block" if block else "inline", " ".join(tex.split()), Markup("").join(map(_written, tree))
    )
    return Markup('<span class="formula">{}</span>').format(shown) if block else shown


def _tree(tex: str, *, block: bool) -> Element | None:
    if not tex.strip() or len(tex) > MAX_LENGTH or _MACROS.search(tex):
        return None
    try:
        return Converter(display="block" if block else "inline").convert_to_element(tex)
    except Exception:  # noqa: BLE001 (a student may type anything; the formula then stays as it was typed)
        return None


def _written(element: Element) -> Markup:
    """One element and what lies below it; an element that is not known leaves only its content."""
    # The library writes signs as entities into its texts: they are read first, and then escaped.
    inside = Markup("{}{}").format(
        html.unescape(element.text or ""),
        Markup("").join(Markup("{}{}").format(_written(one), one.tail or "") for one in element),
    )
    if element.tag not in _ELEMENTS:
        return inside
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    return Markup(f"<{element.tag}{attributes}>{inside}</{element.tag}>")
