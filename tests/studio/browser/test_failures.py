"""What goes wrong while a browser is open: no label is lost, and the page shows what happened."""

import resource

from .acting import begin, labels, press_truth, read, saved, wait


def test_labels_survive_a_lost_server_and_a_closed_tab(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    tabs.context.set_offline(True)
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser')")
    assert page.inner_text("#saved") == "2 unsaved (kept in this browser)"
    page.close()
    tabs.context.set_offline(False)
    page = tabs.open()
    saved(page)
    after = labels(page)
    assert set(after) == set(before) | set(rows)
    revs = [event["rows"] for event in read(page, "/api/history?limit=50")["events"]]
    assert [row in revs[k] for k, row in enumerate(rows[::-1])] == [True, True]  # each once, in order
    assert page.locator("#notice").is_hidden()


def test_labels_survive_a_killed_server(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    studio.process.kill()
    studio.process.wait(30)
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser')")
    studio.start()
    page.wait_for_selector("#notice:has-text('Open the address')")  # the new server does not know this tab yet
    other = tabs.open()  # its address gives the browser the new cookie
    saved(page)
    saved(other)
    assert set(labels(other)) == set(before) | set(rows)
    other.wait_for_selector("#notice", state="hidden")
    page.wait_for_selector("#notice", state="hidden")


def test_a_full_disk_keeps_the_label_in_the_browser_until_it_is_written(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    journal = studio.folder / "plants.csv.mercer" / "journal.jsonl"
    size, limits = journal.stat().st_size, resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, (size, limits[1]))
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('The label was not written')")
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser and sent again')")
    assert page.inner_text("#saved") == "2 unsaved (kept in this browser)"
    assert labels(page) == before and journal.stat().st_size == size
    resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, limits)
    saved(page)
    assert set(labels(page)) == set(before) | set(rows)
    page.wait_for_selector("#notice", state="hidden")
    wait(page, "document.querySelector('#saved').textContent.startsWith('Saved')")


def test_a_torn_line_is_cut_and_a_damaged_one_stops_the_session(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before = labels(page)
    page.close()
    journal = studio.folder / "plants.csv.mercer" / "journal.jsonl"
    studio.end()
    whole = journal.read_bytes()
    number = whole.count(b"\n")
    journal.write_bytes(whole + whole.splitlines()[-1][:40])
    studio.start()
    page = tabs.open()
    page.wait_for_selector(f"#notice:has-text('the {number} events before it are kept')")
    page.click("#notice button")
    assert page.locator("#notice").is_hidden() and labels(page) == before
    page.close()
    studio.end()
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(b'"rows":[', b'"rows":[1')
    journal.write_bytes(b"".join(lines))
    studio.start()
    page, tabs.lossy = tabs.open(drawn=False), True
    page.wait_for_selector(f"#notice:has-text('The {number - 2} events before it are shown')")
    assert "nothing is learned" in page.inner_text("#plot-empty") and page.inner_text("#stage-text") == "stopped"
    kept = labels(page)
    assert set(kept) < set(before)
    refused = "async () => (await (await import('/static/api.js')).post('/api/undo', {}).catch(e => e)).status"
    assert page.evaluate(refused) == 409 and labels(page) == kept
    page.close()
    studio.end()
    assert journal.read_bytes() == b"".join(lines)
    journal.write_bytes(whole)
    studio.start()
    page = tabs.open()
    assert labels(page) == before and page.locator("#notice").is_hidden()


def test_a_changed_table_stops_learning_and_names_the_rows_that_are_gone(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    table, gone = studio.folder / "plants.csv", next(iter(before))
    whole = table.read_text()
    table.write_text("".join(line for line in whole.splitlines(keepends=True) if not line.startswith(f"plant {gone},")))
    page.wait_for_selector(f"#notice:has-text('Not found again: plant {gone}.')")
    assert f"{len(before) - 1} of {len(before)} labeled rows are in the new file" in page.inner_text("#notice")
    assert page.inner_text("#stage-text") == "stopped" and labels(page) == before
    page.close()
    studio.end()
    table.write_text(whole)
    studio.start()
    page = tabs.open()
    assert labels(page) == before and page.locator("#notice").is_hidden()
