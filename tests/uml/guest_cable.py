"""In the guest: a cable with `tc netem delay 50ms` at one end; prints each direction's least delay in seconds."""

import json
import subprocess

from tests.uml.guest_harness import INTERFACE, inside, journeys, two_hosts


def main() -> None:
    near, far = two_hosts()
    with inside(near.namespace):
        subprocess.run(("tc", "qdisc", "add", "dev", INTERFACE, "root", "netem", "delay", "50ms"), check=True)
    found = journeys([(near, far), (far, near)], count=20, pause_s=0.01)
    there, back = (min(arrived - sent for sent, arrived in found[link]) for link in ((0, 1), (1, 0)))
    print(json.dumps({"there_s": there, "back_s": back}))


if __name__ == "__main__":
    main()
