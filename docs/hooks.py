"""What the site adds to sphinx: parameters of one line, links on names in code, formulas without scripts."""

import re
from html import escape

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes

import mercer

ITEM = re.compile(r"^(?P<name>[\w*][\w, *{}]*?) : (?P<text>.+)$")
LISTS = {"Parameters", "Attributes", "Returns", "Other Parameters"}
FITTED = re.compile(r"(?<![\w`\\])([A-Za-z]\w*_)(?![\w`{])")  # a name such as n_iter_, which would be read as a link
WRAPPED = 90  # characters; a longer line is a sentence that goes on, not a type


def prose(text):
    """A line with what reStructuredText would take for markup and is none: a name that ends in _, and **kwargs."""
    parts = re.split(r"(``.*?``|`[^`]*`)", text)  # every second one is code already
    parts[::2] = [FITTED.sub(r"``\1``", part).replace(" **kwargs", " ``**kwargs``") for part in parts[::2]]
    return "".join(parts)


def items(line):
    """(name, sentence) of each item of a line: attributes may are side by side, `a_ : this. b_ : that.`"""
    found = re.split(r"(?<=[.;]) (\w+_) : ", line["text"])
    return [(line["name"], found[0]), *zip(found[1::2], found[2::2])]


def one_line_items(app, what, name, obj, options, lines):
    """Turn `name : sentence` of a section of parameters, without a type, into name and description for numpydoc."""
    section, out, i = None, [], 0
    while i < len(lines):
        line = lines[i]
        if i + 1 < len(lines) and line.strip() and set(lines[i + 1]) == {"-"}:
            section = line.strip()
        item = ITEM.match(line) if section in LISTS else None
        goes_on = i + 1 < len(lines) and lines[i + 1].startswith(" ")
        if item and (not goes_on or (len(line) > WRAPPED and "default=" not in line)):
            for name, text in items(item):
                out += [name, "    " + prose(text)]
        elif item or line.lstrip().startswith((">>>", "...")):
            out.append(line)
        else:
            out.append(prose(line))
        i += 1
    lines[:] = out


def of_scikit_learn(literal):
    """Whether a name means scikit-learn's class: in the first column of "there" or "instead of", or in "replaces"."""
    entry = literal.parent
    while entry is not None and not isinstance(entry, nodes.entry):
        entry = entry.parent
    if entry is None:
        return "scikit-learn's" in literal.parent.astext()
    if "Which class replaces" in entry.astext():
        return True
    heads = [head.astext() for head in entry.parent.parent.parent.findall(nodes.thead)]
    return bool(heads) and heads[0].startswith(("there", "instead of")) and entry.parent.index(entry) == 0


def linked_names(app, doctree):
    """Make `KernelPCA` in code type a link to its page, on every page and not inside other links or headings."""
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removeprefix("mercer.").split("(")[0]
        inside = literal.parent
        if of_scikit_learn(literal):
            continue
        if name not in mercer.exports or isinstance(inside, (nodes.reference, nodes.title, addnodes.pending_xref)):
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=f"mercer.{name}", refdoc=app.env.docname, refexplicit=True
        )
        literal.replace_self(link)
        link += literal


def tables_scroll(app, doctree):
    """Mark what a terminal prints as a table, which keeps its lines on a phone."""
    for block in doctree.findall(nodes.literal_block):
        if "───" in block.astext():
            block["classes"].append("wide")


def by_last_name(app, env, node, contnode):
    """Resolve a name by its last part where one documented thing alone has it."""
    if node.get("refdomain") != "py":
        return None
    objects, target = env.get_domain("py").objects, node["reftarget"]
    found = {full for full in objects if full == f"mercer.{target}" or full.endswith(f".{target}")}
    if len(found) != 1:
        return None
    (full,) = found
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], objects[full].docname, full, contnode, full)


def spelled(formula):
    """\\tfrac12 as \\tfrac{1}{2}: docutils takes both digits for the numerator."""
    return re.sub(r"\\([td]?frac)(\w)(\w)", r"\\\1{\2}{\3}", formula)


def mathml(formula, as_block):
    """MathML of a formula; norm bars keep the height of their line."""
    found = tex2mathml(spelled(formula), as_block=as_block)
    return re.sub(r"<mo(?: [^>]*)?>([‖∥])</mo>", r'<mo stretchy="false">\1</mo>', found)


def inline_formula(writer, node):
    writer.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def block_formula(writer, node):
    try:
        formula = mathml(node.astext(), as_block=True)
    except Exception as error:
        raise ValueError(f"formula {escape(node.astext())!r}: {error}") from error
    writer.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app):
    app.connect("autodoc-process-docstring", one_line_items, priority=100)  # before numpydoc
    app.connect("doctree-read", linked_names)
    app.connect("doctree-read", tables_scroll)
    app.connect("missing-reference", by_last_name)
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
