"""The pages: stages, what each adds, concepts, sources, and a list of all public names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from stages import Stage

from mt.concept.maps import Concept
from mt.concept.printing import short
from mt.concept.running import Result
from mt.concept.view import ConceptView, StepView
from mt.diff.code import CodeChange
from mt.diff.comparison import Comparison, Experiment
from mt.diff.experiment import Outcome
from mt.diff.size import Size
from mt.site.page import (
    Page,
    difference,
    folded,
    link,
    marked,
    numbered,
    paragraphs,
    python,
    source_path,
    table,
)
from mt.source.modules import Module
from mt.source.symbols import Symbol


def diff_path(before: Stage, after: Stage) -> str:
    """Return the path of the page on what a stage adds to another."""
    return f"diff-{before.short}-{after.short}.html"


def concept_path(concept: Concept) -> str:
    """Return the path of the page of a concept."""
    return f"concept-{concept.name.replace(' ', '-')}.html"


# --- The first page -----------------------------------------------------------------------------


def first_page(
    comparisons: list[Comparison], concepts: list[Concept], summaries: Mapping[str, str]
) -> Page:
    """Return the page from which all others are reached.

    Args:
        comparisons: what each stage adds to the one before.
        concepts: the ideas.
        summaries: of each package, the first line of its documentation.
    """
    first = comparisons[0].before
    rows = [[escape(first.name), marked(summaries[first.import_name]), "the first stage"]]
    for comparison in comparisons:
        before, after = comparison.before, comparison.after
        path = diff_path(before, after)
        adds = f'<a href="{path}">what it adds to {escape(before.name)}</a>'
        rows.append([escape(after.name), marked(summaries[after.import_name]), adds])
    ideas = "\n".join(
        f'<dt><a href="{concept_path(concept)}">{escape(concept.name)}</a></dt>'
        f"<dd>{marked(concept.text)}</dd>"
        for concept in concepts
    )
    body = f"""<p>Six packages build on each other, and each adds one idea. Here they stand side by
side: two stages, or one idea in all of them.</p>
<h2>The stages</h2>
{table(["package", "what it is", ""], rows)}
<h2>The ideas</h2>
<dl>{ideas}</dl>"""
    return Page("index.html", "A framework in stages", body)


# --- What a stage adds --------------------------------------------------------------------------


def diff_page(comparison: Comparison) -> Page:
    """Return the page on what a stage adds to another one."""
    before, after = comparison.before.name, comparison.after.name
    sizes = table(
        ["", "modules", "lines of code", "import", "needs also"],
        [
            [escape(before), *_size(comparison.sizes[before]), ""],
            [
                escape(after),
                *_size(comparison.sizes[after]),
                escape(", ".join(comparison.dependencies)),
            ],
        ],
    )
    names = table(
        ["name", "what it is"],
        (
            [
                f'{link(symbol, name)}<code class="quiet">{escape(symbol.signature)}</code>',
                marked(symbol.summary),
            ]
            for name, symbol in comparison.names.added.items()
        ),
    )
    fates = ", ".join(f"{count} {fate}" for fate, count in comparison.fates().items())
    body = f"""{_experiment(comparison.experiment, before, after)}
<h2>How much it is</h2>
{sizes}
<h2>Names it adds</h2>
{names}
{_changed(comparison)}
<h2>Its functions, set against those of {escape(before)}</h2>
<p>Without docstrings, annotations and imports: {escape(fates)}.</p>
{"".join(_code(change) for change in comparison.code)}"""
    return Page(
        diff_path(comparison.before, comparison.after), f"What {after} adds to {before}", body
    )


def _size(size: Size) -> tuple[str, str, str]:
    seconds = size.import_seconds
    taken = "not possible here" if seconds is None else f"{1000 * seconds:.0f} ms"
    return str(size.modules), f"{size.lines:,}", taken


def _experiment(experiment: Experiment | None, before: str, after: str) -> str:
    if experiment is None:
        return ""
    rows = [
        [
            f"with {escape(name)}",
            _mark(outcome),
            f"{outcome.seconds:.1f} s",
            f"<code>{escape(outcome.output)}</code>",
        ]
        for name, outcome in ((before, experiment.before), (after, experiment.after))
    ]
    return f"<h2>Without it</h2>\n{paragraphs(experiment.text)}\n{table(['', '', 'took', 'printed'], rows)}"


def _mark(outcome: Outcome) -> str:
    return (
        '<span class="works">works</span>' if outcome.worked else '<span class="fails">fails</span>'
    )


def _changed(comparison: Comparison) -> str:
    if not comparison.names.changed:
        return ""
    rows = (
        [link(c.after, c.name), link(c.before), link(c.after)] for c in comparison.names.changed
    )
    titles = ["name", comparison.before.name, comparison.after.name]
    return f"<h2>Names it defines anew</h2>\n{table(titles, rows)}"


def _code(change: CodeChange) -> str:
    here = f"<code>{escape(change.after.name)}</code>"
    was = (
        f", in the earlier stage <code>{escape(change.before.name)}</code>" if change.before else ""
    )
    content = (
        difference(change.lines()) if change.fate == "rewritten" else python(change.after.code)
    )
    return folded(f"{change.fate}: {here}{was}", content)


# --- A concept ----------------------------------------------------------------------------------


def concept_page(view: ConceptView) -> Page:
    """Return the page of an idea: a column for each stage and backend."""
    columns = "\n".join(_column(step) for step in view.steps)
    body = f"""<p>{marked(view.concept.text)}</p>
<div class="columns" tabindex="0" role="region" aria-label="Columns of code">
{columns}
</div>
<h2>The same input in every column</h2>
{paragraphs(view.input)}
{_results(view.results)}"""
    name = view.concept.name
    return Page(concept_path(view.concept), name[0].upper() + name[1:], body)


def _column(view: StepView) -> str:
    code = "\n".join(
        folded(link(symbol), python(symbol.text), is_open=True) for symbol in view.symbols
    )
    kernel = folded("what is generated from it", python(view.kernel)) if view.kernel else ""
    return f"<section>\n<h2>{view.step.column}</h2>\n<p>{marked(view.step.text)}</p>\n{code}\n{kernel}</section>"


def _results(results: Mapping[str, Result]) -> str:
    return table(
        ["column", "value", "gradient", "largest error", "time"],
        ([column, *_result(result)] for column, result in results.items()),
    )


def _result(result: Result) -> tuple[str, str, str, str]:
    if result.failure:
        return escape(result.failure), "", "", ""
    gradient = "none here" if result.gradient is None else short(result.gradient)
    return short(result.value), gradient, f"{result.error:.1e}", f"{1e6 * result.seconds:,.1f} µs"


# --- Sources ------------------------------------------------------------------------------------


def source_page(module: Module) -> Page:
    """Return the page that shows a module."""
    return Page(source_path(module), module.name, numbered(module.text))


def names_page(names: Mapping[str, Mapping[str, Symbol]]) -> Page:
    """Return the page that lists all public names, by package."""
    return Page("names.html", "All names", "\n".join(_package(*entry) for entry in names.items()))


def _package(package: str, names: Mapping[str, Symbol]) -> str:
    rows = ([link(symbol, name), marked(symbol.summary)] for name, symbol in names.items())
    return f'<h2 id="{package}">{package}</h2>\n{table(["name", "what it is"], rows)}'


def sources(modules: Iterator[Module]) -> Iterator[Page]:
    """Yield a page for each module."""
    for module in modules:
        yield source_page(module)
