"""Build the site: the pages of all stages, ideas and modules."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mt.concept.maps import Concept
from mt.concept.order import read_order
from mt.concept.view import ConceptView, view
from mt.diff.comparison import Comparison, compared
from mt.site.code import Listings, source_path
from mt.site.folder import SiteFolder
from mt.site.grouping import by_letter, new_ideas, outline, versions
from mt.site.pages import concept_path, diff_path, rendered, stage_path, titled
from mt.site.picture import picture
from mt.site.readme import readme
from mt.size.sizes import size_of
from mt.skeleton.course import read_tasks
from mt.source.modules import Module
from mt.source.public import public_names
from mt.source.symbols import Symbols
from mt.workspace import Stage, Workspace

STYLE = Path(__file__).with_name("style.css")


def neighbours(workspace: Workspace) -> Iterator[tuple[Stage, Stage]]:
    """Yield each stage except the first, after the last stage that it depends on."""
    for stage in workspace.stages.values():
        needed = workspace.upstream(stage)[:-1]
        if needed:
            yield needed[-1], stage


def pairs(workspace: Workspace) -> Iterator[tuple[Stage, Stage]]:
    """Yield each stage after each of those that it depends on."""
    for after in workspace.stages.values():
        for before in workspace.upstream(after)[:-1]:
            yield before, after


def build(folder: Path, *, run: bool = True) -> int:
    """Build the site, and return the number of its pages.

    Args:
        folder: the output folder; an earlier site in it is replaced.
        run: whether to run experiments and inputs.

    Raises:
        SiteError: the folder contains something else.
    """
    out = SiteFolder(folder)
    count = 0
    site = _Site(run)
    for path, text in site.pages():
        count += 1
        out.file(path).write_text(text, encoding="utf-8")
    for path, image in site.images.items():
        shutil.copyfile(image, out.file(path))
    shutil.copyfile(STYLE, out.file("style.css"))
    return count


class _Site:
    """The data of all pages.

    Args:
        run: whether to run experiments and inputs.
    """

    def __init__(self, run: bool) -> None:
        self.workspace = Workspace.read()
        self.symbols = Symbols(self.workspace.library())
        self.listings = Listings(self.symbols)
        self.order = read_order()
        self.views = [
            view(concept, self.symbols, run=run) for concept in self.order.concepts.values()
        ]
        # Experiments of a stage run only against the stage directly below it.
        tried = list(neighbours(self.workspace)) if run else []
        self.comparisons = [
            compared(self.workspace, self.symbols, *pair, run=pair in tried)
            for pair in pairs(self.workspace)
        ]
        self.sizes = {
            stage.name: size_of(self.symbols.library, stage)
            for stage in self.workspace.stages.values()
        }
        self.modules = {
            name: [module for files in size.files.values() for module in files]
            for name, size in self.sizes.items()
        }
        self.tasks = list(read_tasks().values())
        self.images: dict[str, Path] = {}

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the path and HTML of each page."""
        yield self._index()
        for stage in self.workspace.stages.values():
            yield self._stage(stage)
        for comparison in self.comparisons:
            yield self._diff(comparison)
        for each in self.views:
            yield self._concept(each)
        yield self._names()
        shown_in = self._shown_in()
        for stage in self.workspace.stages.values():
            for module in self.modules[stage.name]:
                yield self._source(stage, module, shown_in)

    def _index(self) -> tuple[str, str]:
        path = "index.html"
        stages = list(self.workspace.stages.values())
        return path, rendered(
            "index.html",
            path,
            "A framework in stages",
            stages=stages,
            stage_of={stage.short: stage for stage in stages},
            summaries={each.name: self.symbols.find(each.import_name).summary for each in stages},
            picture=picture(self.workspace),
            sizes=self.sizes,
            with_tasks={task.stage for task in self.tasks},
            nearest=list(neighbours(self.workspace)),
            earlier=[
                each for each in stages if any(each is pair.before for pair in self.comparisons)
            ],
            later=[each for each in stages if any(each is pair.after for pair in self.comparisons)],
            comparisons={(each.before.name, each.after.name): each for each in self.comparisons},
            order=self.order,
            first=next(iter(self.order.concepts.values())),
        )

    def _stage(self, stage: Stage) -> tuple[str, str]:
        path = stage_path(stage)
        text = readme(stage.folder / "README.md", self._pages_of_files())
        self.images |= text.images
        stages = list(self.workspace.stages.values())
        place = stages.index(stage)
        return path, rendered(
            "stage.html",
            path,
            stage.name,
            stage=stage,
            readme=text,
            size=self.sizes[stage.name],
            tasks=[
                (task, [self.symbols.find(name) for name in task.functions])
                for task in self.tasks
                if task.stage == stage.short
            ],
            below=[each for each in self.comparisons if each.after is stage],
            above=[each for each in self.comparisons if each.before is stage],
            previous=stages[place - 1] if place else None,
            following=stages[place + 1] if place + 1 < len(stages) else None,
        )

    def _pages_of_files(self) -> dict[Path, str]:
        """Return the paths of the pages of READMEs and modules, by file."""
        found = {
            stage.folder / "README.md": stage_path(stage)
            for stage in self.workspace.stages.values()
        }
        for modules in self.modules.values():
            found |= {module.file: source_path(module) for module in modules}
        return found

    def _diff(self, comparison: Comparison) -> tuple[str, str]:
        before, after = comparison.before, comparison.after
        path, title = diff_path(before, after), f"What {after.name} adds to {before.name}"
        return path, rendered(
            "diff.html",
            path,
            title,
            comparison=comparison,
            before=before,
            after=after,
            asks=self._asks(before, after),
            versions=versions(comparison.code),
            modules=list(new_ideas(comparison.code)),
        )

    def _asks(self, before: Stage, after: Stage) -> tuple[str, ...]:
        """Return the questions that a comparison answers."""
        pair = (before.short, after.short)
        return tuple(
            question
            for addition in self.order.additions
            if (addition.before, addition.after) == pair
            for question in addition.asks
        )

    def _concept(self, view: ConceptView) -> tuple[str, str]:
        path, name = concept_path(view.concept), view.concept.name
        previous, following = self.order.neighbours(name)
        names = [each.counterexample.name for each in view.counterexamples]
        return path, rendered(
            "concept.html",
            path,
            titled(name),
            view=view,
            names=[*names, *(each.step.column for each in view.steps)],
            theme=self.order.theme_of(name),
            previous=previous,
            following=following,
            excerpt=self.listings.excerpt,
        )

    def _names(self) -> tuple[str, str]:
        path = "names.html"
        packages = [
            (stage, by_letter(public_names(self.symbols, stage.import_name)))
            for stage in self.workspace.stages.values()
        ]
        return path, rendered("names.html", path, "All names", packages=packages)

    def _shown_in(self) -> dict[str, list[Concept]]:
        """Return the concepts that show each definition, by its name."""
        found: dict[str, list[Concept]] = defaultdict(list)
        for each in self.views:
            for name in {symbol.name for step in each.steps for symbol in step.symbols}:
                found[name].append(each.concept)
        return found

    def _source(
        self, stage: Stage, module: Module, shown_in: dict[str, list[Concept]]
    ) -> tuple[str, str]:
        path = source_path(module)
        return path, rendered(
            "source.html",
            path,
            module.name,
            stage=stage,
            module=module,
            outline=outline(module),
            shown_in=shown_in,
            lines=self.listings.lines(module),
        )
