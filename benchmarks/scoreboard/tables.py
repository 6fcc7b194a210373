"""CSV files of the scoreboard: each part replaces its own rows when it is done, so parts can be run one by one."""

from benchmarks.harness import RESULTS, read_csv, write_csv


def read(name):
    """Rows of results/scoreboard_NAME.csv; none when it has not been measured."""
    return read_csv(f"scoreboard_{name}", RESULTS)


def merge(name, new, keys, order=None):
    """Put new rows in place of the old ones that agree with one of them in `keys`; sort by `order` of the first key."""
    new = [{k: str(v) for k, v in row.items()} for row in new]
    done = {tuple(row[k] for k in keys) for row in new}
    rows = [row for row in read(name) if tuple(row[k] for k in keys) not in done] + new
    if order is not None:
        rows.sort(key=lambda row: order.index(row[keys[0]]) if row[keys[0]] in order else len(order))
    write_csv(f"scoreboard_{name}", rows, RESULTS)
    return rows
