# The whole server under the power-loss tests and kill9: starting and stopping it, a load of PutItem, UpdateItem and DeleteItem
# that keeps what was acknowledged, and the check that all of it is there.
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import cut

CLIENTS = 6
KEYS = 15          # of each client, so that keys are written over and over
DELETE_EVERY = 7   # operation n of a key deletes when n divides by it
TABLE = "power-loss"
START_S = 30
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=" + "0" * 64
)


class Fault(Exception):
    pass


class Lost(Fault):
    pass


class Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class Server:
    def __init__(self, binary, data, work, environment=None):
        self.port_file = work / "port"
        self.port_file.unlink(missing_ok=True)
        self.log = work / "server.log"
        command = [str(binary), "serve", "--port", "0", "--port-file", str(self.port_file), "--data", str(data), "--memory-limit", "64M", "--log-level", "warn"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        self.port = None

    def wait_until_ready(self):
        """Seconds until it served; None when it ended instead."""
        start = time.monotonic()
        while time.monotonic() - start < START_S:
            if self.port_file.exists() and (text := self.port_file.read_text().strip()):
                self.port = int(text)
                return time.monotonic() - start
            if self.process.poll() is not None:
                return None
            time.sleep(0.002)
        self.kill()
        raise Fault(f"the server did not start within {START_S} s: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace").strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=START_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Fault(f"the server did not stop within {START_S} s: {self.said()}") from None


def started(binary, data, work, environment=None):
    server = Server(binary, data, work, environment)
    if server.wait_until_ready() is None:
        raise Fault(f"the server ended with status {server.process.returncode} instead of starting: {server.said()}")
    return server


class Connection:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=START_S)

    def call(self, operation, body):
        headers = {
            "X-Amz-Target": "DynamoDB_20120810." + operation,
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        self.http.request("POST", "/", json.dumps(body), headers)
        answer = self.http.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise Refused(answer.status, text)
        return json.loads(text)


def make_table(port):
    connection = Connection(port)
    connection.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        },
    )
    while connection.call("DescribeTable", {"TableName": TABLE})["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.02)


def filling(key, n):
    chance = random.Random(f"{key} {n}")
    return "".join(chance.choices("abcdefghij", k=chance.choice((5, 50, 500, 3000))))


class Ledger:
    """For each key: the last operation sent and the last acknowledged. Notes go to the journal, if there is one, before anything else
    can be sent: so a note that is in a part of the journal has its sync in that part."""

    def __init__(self, journal=None):
        self.sent = {}
        self.acknowledged = {}
        self.count = 0
        self.lock = threading.Lock()
        self.journal = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if journal else None

    def note(self, text):
        if self.journal is not None:
            data = text.encode()
            os.write(self.journal, cut.FRAME.pack(cut.FRAME.size + len(data), cut.NOTE, 0, 0, 0, 0) + data)

    def acknowledge(self, key, n):
        self.note(f"{key} {n}")
        with self.lock:
            self.acknowledged[key] = n
            self.count += 1


class Client(threading.Thread):
    """One request at a time, until the server is gone or `over` is set."""

    def __init__(self, port, number, ledger, over):
        super().__init__()
        self.port, self.number, self.ledger, self.over = port, number, ledger, over
        self.fault = None
        self.refused = 0

    def run(self):
        connection = Connection(self.port)
        try:
            while not self.over.is_set():
                for key in range(KEYS):
                    if self.over.is_set():
                        break
                    self.write(connection, f"c{self.number}-k{key}")
                self.count(connection, f"c{self.number}-counter")
        except (OSError, http.client.HTTPException):
            pass  # killed
        except Refused as refused:
            self.refused += 1
            if refused.status < 500:
                self.fault = str(refused)
        except Fault as fault:
            self.fault = str(fault)

    def write(self, connection, key):
        n = self.ledger.sent.get(key, 0) + 1
        self.ledger.sent[key] = n
        if n % DELETE_EVERY == 0:
            connection.call("DeleteItem", {"TableName": TABLE, "Key": {"p": {"S": key}}})
        else:
            connection.call("PutItem", {"TableName": TABLE, "Item": {"p": {"S": key}, "n": {"N": str(n)}, "filling": {"S": filling(key, n)}}})
        self.ledger.acknowledge(key, n)

    def count(self, connection, key):
        n = self.ledger.sent.get(key, 0) + 1
        self.ledger.sent[key] = n
        answer = connection.call(
            "UpdateItem",
            {
                "TableName": TABLE, "Key": {"p": {"S": key}}, "UpdateExpression": "ADD n :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValues": "UPDATED_NEW",
            },
        )
        if answer["Attributes"]["n"]["N"] != str(n):
            raise Fault(f"{key}: ADD answered {answer['Attributes']}, {n} was due")
        self.ledger.acknowledge(key, n)


def run_load(server, ledger, seconds, end):
    """Load for so long, then end(): a kill while requests are in flight, say. Returns how many requests were refused with 5xx."""
    over = threading.Event()
    clients = [Client(server.port, number, ledger, over) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(seconds)
    end()
    over.set()
    for client in clients:
        client.join()
    faults = [client.fault for client in clients if client.fault]
    if faults:
        raise Fault(faults[0])
    return sum(client.refused for client in clients)


def check(port, acknowledged, sent):
    """Every key is as one of the operations from the last acknowledged to the last sent left it. Where it stands goes into `sent`."""
    connection = Connection(port)
    for key, last_sent in sorted(sent.items()):
        least = acknowledged.get(key, 0)
        try:
            answer = connection.call("GetItem", {"TableName": TABLE, "Key": {"p": {"S": key}}, "ConsistentRead": True})
        except Refused as refused:
            if "ResourceNotFoundException" in refused.body:
                raise Lost("LOST: the whole table") from None
            raise Fault(f"GetItem of {key}: {refused}") from None
        if "Item" not in answer:
            deleted = [n for n in range(least, last_sent + 1) if n == 0 or (n % DELETE_EVERY == 0 and not key.endswith("counter"))]
            if not deleted:
                raise Lost(f"LOST: {key} is absent; operation {least} was acknowledged, {last_sent} sent")
            sent[key] = deleted[-1]
            continue
        n = int(answer["Item"]["n"]["N"])
        if not least <= n <= last_sent:
            raise Lost(f"LOST: {key} is at operation {n}; {least} was acknowledged, {last_sent} sent")
        if not key.endswith("counter") and answer["Item"].get("filling") != {"S": filling(key, n)}:
            raise Fault(f"TORN: {key} is not what operation {n} wrote")
        sent[key] = n


def check_data(binary, data, work, acknowledged, sent, table_is_made):
    server = started(binary, data, work)
    try:
        if table_is_made:
            check(server.port, acknowledged, dict(sent))
    finally:
        server.kill()


def parse_notes(notes):
    acknowledged = {}
    for note in notes:
        key, n = note.rsplit(" ", 1)
        acknowledged[key] = int(n)
    table_is_made = acknowledged.pop("table", None) is not None
    return acknowledged, table_is_made


def journalled_load(bench, binary, seconds, **environment):
    """A load on a new folder under the preload. Returns the ledger."""
    bench.clear()
    server = Server(binary, bench.data, bench.work, bench.environment(**environment))
    if server.wait_until_ready() is None:
        return None, server
    ledger = Ledger(bench.journal)
    try:
        make_table(server.port)
        ledger.note("table 1")
        run_load(server, ledger, seconds, server.kill)
    except Refused as refused:
        if refused.status < 500:
            raise Fault(str(refused)) from None
    finally:
        server.kill()
    return ledger, server


def power_cut_round(bench, binary, seed, offsets_of, build_cuts):
    """Returns (cuts, acknowledged requests)."""
    chance = random.Random(f"server {seed}")
    ledger, server = journalled_load(bench, binary, chance.uniform(0.3, 0.9))
    if ledger is None:
        raise Fault(f"seed {seed}: the server ended instead of starting: {server.said()}")
    cuts = 0
    for end, target, notes in build_cuts(bench, bench.work / "none", offsets_of(bench.journal, seed, 3), seed):
        acknowledged, table_is_made = parse_notes(notes)
        try:
            check_data(binary, target, bench.work, acknowledged, ledger.sent, table_is_made)
        except Fault as fault:
            raise Fault(f"seed {seed}, cut at {end}: {fault}") from None
        cuts += 1
    return cuts, ledger.count


def control(bench, binary, build_cuts):
    ledger, _ = journalled_load(bench, binary, 0.5, POWERLOSS_IGNORE="all")
    end = cut.note_offsets(bench.journal)[-1:]
    for _, target, notes in build_cuts(bench, bench.work / "none", end, 1, strict=True):
        acknowledged, table_is_made = parse_notes(notes)
        try:
            check_data(binary, target, bench.work, acknowledged, ledger.sent, table_is_made)
        except Lost as lost:
            return str(lost)
    raise Fault("control: with syncs taken out nothing was lost, so the test proves nothing")


def failing_call(bench, binary, fails, build_cuts):
    """The server with one failing call: True when the failure showed to somebody."""
    ledger, server = journalled_load(bench, binary, 0.4, POWERLOSS_FAIL=fails)
    if ledger is None:
        if server.process.returncode != 1 or not server.said():
            raise Fault(f"{fails}: the server ended with status {server.process.returncode}: {server.said()}")
        return True
    said = server.said()
    end = [end for end, *_ in cut.frames(bench.journal)][-1:]
    for _, target, notes in build_cuts(bench, bench.work / "none", end, 1, strict=True):
        acknowledged, table_is_made = parse_notes(notes)
        for data in (target, bench.data):
            try:
                check_data(binary, data, bench.work, acknowledged, ledger.sent, table_is_made)
            except Fault as fault:
                raise Fault(f"{fails}: {fault}") from None
    return "storage stopped" in said


def power_cuts(bench, binary, first_seed, times, offsets_of, build_cuts):
    cuts = acknowledged = 0
    for seed in range(first_seed, first_seed + times):
        more = power_cut_round(bench, binary, seed, offsets_of, build_cuts)
        cuts, acknowledged = cuts + more[0], acknowledged + more[1]
    print(f"powerloss: {times} loads of the server, {cuts} cuts, {acknowledged} acknowledged requests, none missing")
    print(f"powerloss: control without syncs, server: lost, as it must: {control(bench, binary, build_cuts)}")
    fails = [f"{name}:{number}:{error}" for name, error in (("write", "EIO"), ("write", "ENOSPC"), ("sync", "EIO"), ("sync", "EIO+")) for number in (2, 8, 25, 60, 150)]
    shown = sum(failing_call(bench, binary, fail, build_cuts) for fail in fails)
    if shown < len(fails) // 2:
        raise Fault(f"failing calls: only {shown} of {len(fails)} reached the server, so the test proves little")
    print(f"powerloss: {len(fails)} loads of the server with a failing call, {shown} of them told of it; nothing acknowledged is missing")
