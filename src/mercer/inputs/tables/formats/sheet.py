"""Put columns into the XML of a worksheet and leave every other character as it is."""

import datetime
import re
from typing import Any

from ....backend import need

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def with_columns(xml: str, columns: dict[int, dict[int, Any]]) -> str:
    """The sheet with new cells in some columns, given as {column number: {row number: value}}, both from 1."""
    utils, place = need("openpyxl.utils"), 0
    index, letters_of = utils.column_index_from_string, utils.get_column_letter
    a_row = re.compile(r"<(?P<space>\w+:)?row\b(?P<marks>[^>]*?)(?:/>|>(?P<inside>.*?)</(?P=space)?row>)", re.DOTALL)
    a_cell = re.compile(r"<(?:\w+:)?c\b(?P<marks>[^>]*?)(?:/>|>.*?</(?:\w+:)?c>)", re.DOTALL)
    row_number, column_letters = re.compile(r'\br="[A-Z]*(\d+)"'), re.compile(r'\br="([A-Z]+)\d+"')

    def replaced(row) -> str:
        nonlocal place
        number = row_number.search(row["marks"])
        place = int(number[1]) if number else place + 1
        new = {column: cells[place] for column, cells in columns.items() if place in cells}
        if not new:
            return row[0]
        space = row["space"] or ""
        cells, column = {}, 0
        for cell in a_cell.finditer(row["inside"] or ""):
            letters = column_letters.search(cell["marks"])
            column = index(letters[1]) if letters else column + 1
            cells[column] = cell[0]
        cells |= {column: _cell(value, f"{letters_of(column)}{place}", space) for column, value in new.items()}
        marks = re.sub(r'\s+spans="[^"]*"', "", row["marks"])
        return f"<{space}row{marks}>{''.join(cells[column] for column in sorted(cells))}</{space}row>"

    xml = a_row.sub(replaced, xml)
    last = letters_of(max(columns, default=1))
    dimension = r'(dimension\b[^>]*?ref="[A-Z]+\d+:)([A-Z]+)(\d+")'
    return re.sub(dimension, lambda found: found[1] + max(found[2], last, key=index) + found[3], xml, count=1)


def escaped(text: str) -> str:
    """Text for a workbook, with control characters as _x000D_, and with text that looks like that escaped."""
    return _UNSEEN.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def _cell(value: float | str, place: str, space: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<{space}c r="{place}" t="b"><{space}v>{value:d}</{space}v></{space}c>'
    if isinstance(value, int | float):
        return f'<{space}c r="{place}"><{space}v>{value!r}</{space}v></{space}c>'
    text = escaped(value.isoformat() if isinstance(value, datetime.date) else value)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    inside = f'<{space}is><{space}t xml:space="preserve">{text}</{space}t></{space}is>'
    return f'<{space}c r="{place}" t="inlineStr">{inside}</{space}c>'
