"""The health of a run in a simulator."""

from orchestrator.results.health import Health, Symptoms, judge
from orchestrator.results.round_counts import RoundCounts, deaf_nodes, unheard_links
from pame.byte_account import ByteAccount, Fate
from pame.resolved_run import ResolvedRun


def simulated_health(
    setting: ResolvedRun, rounds: RoundCounts, account: ByteAccount, unheard: str = "", is_failed: bool = False
) -> Health:
    return judge(
        Symptoms(
            expected=rounds.expected,
            averaged=rounds.averaged,
            is_silence_certain=rounds.is_silence_certain,
            rounds=rounds.rounds,
            starved=rounds.unexplained_starved,
            unheard_links=unheard_links(account.links(), setting, setting.plan),
            deaf=deaf_nodes(rounds, setting, setting.plan),
            nodes=setting.topology.nodes,
            evicted=0 if rounds.is_on_purpose else account.messages(Fate.EVICTED),
            desynchronised=0 if rounds.is_on_purpose else account.desynchronised,
            is_idle=not rounds.iterations,
            is_failed=is_failed,
            unheard=unheard,
        )
    )
