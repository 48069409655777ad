"""Research: plan, search, read, until answered or out of bounds. It has the public tools and no others.

With a model, a tool-using agent plans and writes (agent.py); without one, rules plan and the pages' own sentences answer
(rules.py). Both read through one desk, which counts, keeps every page as a numbered source and remembers what was refused
(desk.py). A bound that is hit ends the run with the answer so far, and the report says which.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
from anyio.to_thread import run_sync as in_thread

from cormorant.answer import Answer, Options, Reranker, Writer
from cormorant.errors import CormorantError
from cormorant.events import AgentCompleted, AgentFailed, AgentStarted, Emit, nowhere
from cormorant.judges import Judge
from cormorant.research import rules
from cormorant.research.agent import Agent
from cormorant.research.definition import Definition, definition, read_definition
from cormorant.research.desk import Bounds, Desk, PublicTools, Stopped
from cormorant.research.report import Report, settled

__all__ = ["Agent", "Bounds", "Definition", "PublicTools", "Report", "definition", "read_definition", "research"]

Finish = Callable[[Report], Awaitable[Report]]


async def research(
    question: str,
    who: Definition | None = None,
    *,
    tools: PublicTools,
    reranker: Reranker,
    quote: Writer,
    agent: Agent | None = None,
    judge: Judge | None = None,
    options: Options | None = None,
    emit: Emit = nowhere,
    finish: Finish | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Find out, with sources; every step is told to `emit`, ending in exactly one `AgentCompleted` or `AgentFailed`.

    `who` says how far the run may go. `agent` plans and writes where there is one; `quote` writes without it, and where it was
    cut off. `finish` sees the report before it is handed over. Raises: what the first search, the model or the writer raises.
    """
    desk = Desk(tools, (who or Definition()).bounds, emit, clock)
    how = replace(options or Options(), scrape="on")
    await emit(AgentStarted(question))
    try:
        made = await agent.answer(question, desk, judge=judge, options=how) if agent else None
        if agent is None:
            await _gathered(question, desk)
        if made is None:
            made = await rules.conclude(question, desk, reranker=reranker, writer=quote, judge=judge, options=how, emit=emit)
        report = await in_thread(lambda: _report(desk, made, how, modelled=agent is not None))
        report = await finish(report) if finish else report
    except CormorantError as error:
        await emit(AgentFailed(error.message, error.code))
        raise
    await emit(AgentCompleted(report.as_dict()))
    return report


async def _gathered(question: str, desk: Desk) -> None:
    """Everything the rules find within the bounds; a bound that is hit is noted."""
    with anyio.move_on_after(desk.seconds_left) as clock:
        try:
            await rules.gather(question, desk)
        except Stopped as bound:
            desk.stopped = str(bound)
    if clock.cancelled_caught:
        desk.stopped = "seconds"


def _report(desk: Desk, made: Answer, how: Options, *, modelled: bool) -> Report:
    text, sources, verdicts = settled(made, claims_need_sources=modelled)
    return Report(
        answer=text,
        sources=sources,
        not_reached=(*desk.not_reached, *made.not_reached),
        stopped=desk.stopped,
        usage={**desk.spent, "seconds": round(desk.seconds, 3)},
        verdicts=verdicts,
        notes=(*desk.notes, *made.notes, *made.warnings),
        model=made.model,
    )
