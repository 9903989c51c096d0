"""When a node's iterations are due: each lasts as long as its waiting and its nominal time, whatever the machine adds.

    due_{k+1} = max(due_k, end of the wait at k) + nominal_k

A node works from one such moment to the next and sleeps for what is left. If it sleeps too long, or is late for another
reason, the moments stay where they are, and the next sleep is shorter. What does not fit is not made up for: an
iteration whose own work takes longer than its nominal time, and a sleep that ends later than by a whole nominal time,
count as overrun, and the next iteration gets all of its time.
"""


class IterationClock:
    """The moments of one node; the time is always given."""

    def __init__(self, now: float) -> None:
        self.due = now
        """When the iteration begins that is begun, or slept for."""
        self._nominal_s = 0.0
        self._working_since = now
        self._worked_s = 0.0

    @property
    def is_timed(self) -> bool:
        """Whether steps have a nominal time; else they take what they take."""
        return self._nominal_s > 0.0

    def pause(self, now: float) -> None:
        """What follows is waiting, not this node's own work."""
        self._worked_s += now - self._working_since

    def resume(self, now: float, until: float) -> None:
        """Work goes on now; what was waited for was there at `until`."""
        self._working_since = now
        self.due = max(self.due, until)

    def step(self, nominal_s: float) -> None:
        """A step of so many seconds begins with the end of the wait; what comes after it is due then."""
        self._nominal_s = nominal_s
        self.due += nominal_s

    def rest(self, now: float) -> bool:
        """The work of the iteration is done; whether it took longer than its nominal time."""
        self.pause(now)
        overran = self._worked_s > self._nominal_s
        if overran:
            self.due = max(self.due, now)
        self._worked_s = 0.0
        return overran and self.is_timed

    def wake(self, now: float) -> bool:
        """The next iteration begins; whether it is late by more than a nominal time."""
        overslept = now - self.due > self._nominal_s
        if overslept:
            self.due = now
        self._working_since = now
        return overslept and self.is_timed
