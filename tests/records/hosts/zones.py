"""Zones signed here with ldns, served by NSD, and unbound beside them as the one who judges."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.query

SOA = "{zone} 60 IN SOA ns.example. h.example. 1 3600 600 86400 60\n{zone} 60 IN NS ns.example.\n"
YEAR = time.gmtime().tm_year


def program(name: str) -> str:
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    assert found, f"{name} is missing: apt-get install nsd unbound ldnsutils"
    return found


def free_port() -> int:
    """A port that is free for datagrams and connections at once."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def signed(folder: Path, zone: str, text: str, how: str) -> str:
    """Write a zone, signed as asked for, and return the DS record for the zone above it ("" if unsigned)."""
    file = folder / f"zone-{zone}"
    file.write_text(SOA.format(zone=zone) + text)
    if how == "unsigned":
        return ""
    run = {"cwd": folder, "check": True, "capture_output": True, "text": True, "timeout": 60}
    base = subprocess.run(
        [program("ldns-keygen"), "-a", "ECDSAP256SHA256", "-k", zone], **run  # type: ignore[call-overload]
    ).stdout.strip()  # fmt: skip
    dates = (
        ["-i", "20200101", "-e", "20200201"]
        if how == "expired"
        else ["-i", "20200101", "-e", f"{YEAR + 5}0101"]
    )
    nsec3 = ["-n"] if how == "nsec3" else []
    subprocess.run(
        [program("ldns-signzone"), *dates, *nsec3, "-o", zone, "-f", f"{file.name}.s", file.name, base],
        **run,  # type: ignore[call-overload]
    )
    made = Path(f"{file}.s").read_text()
    if how == "altered":  # after signing: the last digit of each TLSA record
        rows = [
            line[:-1] + ("0" if line[-1] != "0" else "1") if "\tTLSA\t" in line else line
            for line in made.splitlines()
        ]
        made = "\n".join(rows) + "\n"
    file.write_text(made)
    return (folder / f"{base}.ds").read_text()


class Dns:
    """NSD with some zones and unbound before it."""

    def __init__(self, folder: Path, zones: dict[str, tuple[str, str]]) -> None:
        self._folder = folder
        above = {zone: signed(folder, zone, text, how) for zone, (text, how) in zones.items()}
        parts = [f"{zone} 60 IN NS ns.example.\n{ds}" for zone, ds in above.items()]
        ds = signed(folder, "example.", "ns.example. 60 IN A 127.0.0.1\n" + "".join(parts), "signed")
        anchor = signed(
            folder, ".", "ns.example. 60 IN A 127.0.0.1\nexample. 60 IN NS ns.example.\n" + ds, "signed"
        )
        every = (".", "example.", *zones)
        self.authority, self.port, self.careless = free_port(), free_port(), free_port()
        (folder / "nsd.conf").write_text(
            f'server:\n ip-address: 127.0.0.1@{self.authority}\n username: ""\n chroot: ""\n zonesdir: "{folder}"\n'
            f' pidfile: "{folder}/nsd.pid"\n database: ""\n zonelistfile: "{folder}/l"\n xfrdfile: "{folder}/x"\n'
            f' xfrdir: "{folder}"\n server-count: 1\n verbosity: 0\nremote-control:\n control-enable: no\n'
            + "".join(f'zone:\n name: "{zone}"\n zonefile: "zone-{zone}"\n' for zone in every)
        )
        stubs = "".join(
            f'stub-zone:\n name: "{zone}"\n stub-addr: 127.0.0.1@{self.authority}\n stub-prime: no\n'
            for zone in every
        )
        for name, port, modules, more in (
            ("unbound", self.port, "validator iterator", f'trust-anchor: "{anchor.split(";")[0].strip()}"'),
            ("careless", self.careless, "iterator", ""),
        ):
            (folder / f"{name}.conf").write_text(
                f'server:\n interface: 127.0.0.1\n port: {port}\n username: ""\n chroot: ""\n directory: "{folder}"\n'
                f' pidfile: ""\n use-syslog: no\n logfile: ""\n verbosity: 0\n do-not-query-localhost: no\n ede: yes\n'
                f' num-threads: 1\n module-config: "{modules}"\n {more}\n{stubs}'
            )
        self._running = [
            self._start("nsd", "nsd.conf"),
            self._start("unbound", "unbound.conf"),
            self._start("unbound", "careless.conf"),
        ]
        for port in (self.authority, self.port, self.careless):
            self._wait(port)

    def _start(self, name: str, conf: str) -> subprocess.Popen[bytes]:
        log = (self._folder / f"{conf}.log").open("wb")
        with log:
            return subprocess.Popen(
                [program(name), "-d", "-c", str(self._folder / conf)], stdout=log, stderr=log
            )

    def _wait(self, port: int) -> None:
        for _ in range(600):
            with suppress(dns.exception.DNSException, OSError):
                if self._ask(port, "example.", "SOA").rcode() == 0:
                    return
            time.sleep(0.1)
        raise AssertionError({path.name: path.read_text() for path in self._folder.glob("*.log")})

    @staticmethod
    def _ask(port: int, name: str, kind: str) -> dns.message.Message:
        query = dns.message.make_query(name, kind, want_dnssec=True)
        return dns.query.tcp(query, "127.0.0.1", 5, port)

    def judge(self, name: str, kind: str = "TLSA") -> str:
        """What unbound says of a name: NOERROR, NXDOMAIN or SERVFAIL, and whether it has validated it."""
        found = self._ask(self.port, name, kind)
        return f"{found.rcode().name}{' AD' if found.flags & dns.flags.AD else ''}"

    def close(self) -> None:
        for one in self._running:
            one.terminate()
        for one in self._running:
            one.wait(20)
