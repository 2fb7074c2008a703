"""Pairs that are drawn anew in every epoch, with targets from functions that know them all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from trimetric.distances import ObjectDistance
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.training.pairs import PairData, shuffle

BATCHES = 50
"""steps per epoch, for which pairs are drawn and answered at once"""
PAIRS_PER_OBJECT = 2
"""pairs of a batch for each of its objects: an encoder costs more than a head"""
FINGERPRINT_PAIRS = 64

Answers = Callable[[Tensor, Tensor], Tensor]
"""the values of pairs, from the row numbers of their ends"""


@torch.no_grad()
def answers(f: ObjectDistance, objects: Tensor, *, reverse: bool = False) -> Answers:
    """Make the function from row numbers of objects to values of `f`, with each object embedded once and for all.

    Args:
        f: what is asked.
        objects: what it reads, one row each.
        reverse: whether to ask for f(y, x) instead of f(x, y).

    Returns:
        The function.  It raises an error where f is not a finite number.  Between equal objects f does not matter, and
        counts as 0 where it is none.
    """
    f.eval()
    once = f.factors_through_points
    asked, read = (f.head, f.embed(objects)) if once else (f, objects)

    @torch.no_grad()
    def values(start: Tensor, end: Tensor) -> Tensor:
        ends = (end, start) if reverse else (start, end)
        found = in_chunks(lambda x, y: asked.between_rows(read, x, y), *ends, size=PAIRS_AT_ONCE)
        strange = ~torch.isfinite(found)
        if bool(strange.any()):
            count = int((strange & differ(objects, start, end)).sum())
            if count:
                raise ValueError(
                    "f: expected a finite number for every pair of different objects, got NaN or infinity for "
                    f"{count} of {len(start)}"
                )
            found = found.masked_fill(strange, 0)
        return found

    return values


def differ(objects: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """Whether the two objects of each pair are different; rows with the same content are the same object.

    Args:
        objects: one row each.
        start: the row where each pair starts.
        end: the row where each pair ends.
    """
    return (objects[start] != objects[end]).reshape(len(start), -1).any(dim=1)


class DrawnPairs(PairData):
    """Pairs of random objects, new ones in each epoch, so that no pair is seen twice except by chance.

    An epoch has `BATCHES` steps.  The pairs of a step use only a few objects, because a student embeds each of them
    once.  The teachers answer the steps alternately, so that the student learns their mean.  The draws
    depend only on the seed and the epoch, so that a resumed run sees the same pairs.

    Args:
        teachers: what to ask for the values of pairs.
        objects: what to draw from, one row each.
        unlabeled: pairs that are drawn for each step.
        labeled: pairs with their own targets to mix in, or None.
        labeled_pairs: how many of them per step.
        labeled_weight: the weight of the mean loss of the labeled pairs, where that of the others is 1.
        shift: added to the answers of the teachers.
    """

    def __init__(
        self,
        teachers: Sequence[Answers],
        objects: Tensor,
        *,
        unlabeled: int,
        labeled: PairData | None = None,
        labeled_pairs: int = 0,
        labeled_weight: float = 1.0,
        shift: float = 0.0,
    ) -> None:
        known = labeled_pairs if labeled is not None else 0
        self.teachers, self.labeled, self.shift = teachers, labeled, shift
        self.unlabeled, self.known, self.batch_size = unlabeled, known, unlabeled + known
        self.drawn_objects = min(len(objects), max(2, unlabeled // PAIRS_PER_OBJECT))
        rows = BATCHES * self.batch_size
        dtype = objects.dtype if objects.is_floating_point() else torch.float32
        super().__init__(
            torch.zeros(rows, 2, dtype=torch.long, device=objects.device),
            torch.zeros(rows, dtype=dtype, device=objects.device),
            objects,
        )
        self.setting = f"{unlabeled} {known} {labeled_weight} {shift} {BATCHES} {PAIRS_PER_OBJECT}"
        if known:
            weights = torch.cat([torch.full((unlabeled,), 1 / unlabeled), torch.full((known,), labeled_weight / known)])
            self.weights = (self.batch_size * weights).repeat(BATCHES).to(self.targets)

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """Draw the pairs of an epoch, and ask the teachers.

        Args:
            seed: of the run.
            epoch: the number of the epoch.

        Returns:
            The row numbers of all pairs, step by step.
        """
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        ends, targets = self.pairs.view(BATCHES, self.batch_size, 2), self.targets.view(BATCHES, self.batch_size)  # type: ignore[union-attr]
        fresh = self._draw(generator).to(ends.device)
        ends[:, : self.unlabeled] = fresh
        turns = (epoch * BATCHES + torch.arange(BATCHES)) % len(self.teachers)
        for number, teacher in enumerate(self.teachers):
            mine = turns == number
            start, end = fresh[mine].flatten(0, 1).unbind(1)
            if len(start):
                values = torch.where(start == end, 0, teacher(start, end).to(targets) + self.shift)
                targets[mine, : self.unlabeled] = values.view(-1, self.unlabeled)
        if self.labeled is not None and self.known:
            rows = self._labeled_rows(seed, epoch)
            ends[:, self.unlabeled :] = self.labeled.pairs[rows].view(BATCHES, self.known, 2)  # type: ignore[index]
            targets[:, self.unlabeled :] = (self.labeled.targets[rows] + self.shift).view(BATCHES, self.known)
        return torch.arange(len(self))

    def _draw(self, generator: torch.Generator) -> Tensor:
        """Pairs `(BATCHES, unlabeled, 2)`: in each step every object is paired with others at random offsets."""
        count, few = len(self.objects), self.drawn_objects  # type: ignore[arg-type]
        per = -(-self.unlabeled // few)
        if few == count:
            chosen = torch.arange(count).expand(BATCHES, count)
        else:
            chosen = torch.randint(count, (BATCHES, few), generator=generator)
        here = torch.arange(few).repeat(per)
        offsets = torch.randint(1, few, (BATCHES, per), generator=generator).repeat_interleave(few, dim=1)
        there = (here + offsets) % few
        pairs = torch.stack([chosen[:, here], chosen.gather(1, there)], dim=-1)
        return pairs[:, : self.unlabeled]

    def _labeled_rows(self, seed: int, epoch: int) -> Tensor:
        """The next rows of an endless sequence of shuffles of the labeled pairs."""
        size, count = len(self.labeled), BATCHES * self.known  # type: ignore[arg-type]
        places = torch.arange(epoch * count, (epoch + 1) * count)
        rounds = range(int(places[0]) // size, int(places[-1]) // size + 1)
        orders = torch.cat([shuffle(size, seed, number) for number in rounds])
        return orders[places - rounds[0] * size]

    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same objects, teachers and settings."""
        digest = hashlib.sha256(self.setting.encode())
        probe = torch.randint(len(self.objects), (2, FINGERPRINT_PAIRS), generator=torch.Generator().manual_seed(0))  # type: ignore[arg-type]
        parts = [self.objects, *(teacher(*probe.to(self.targets.device)) for teacher in self.teachers)]
        for part in parts:
            digest.update(part.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())  # type: ignore[union-attr]
        if self.labeled is not None:
            digest.update(self.labeled.fingerprint().encode())
        return digest.hexdigest()
