"""boto3 against a running stator: MiniTickets' conditional writes under a race, and a round trip of everything a client sees.

Usage: boto.py ENDPOINT   prints one line a check ("ok - ..." or "not ok - ..."); exit 1 if one failed.
Debian's boto3 (1.26) lacks the newer members of the API; those are checked with the JavaScript SDK."""
import concurrent.futures
import decimal
import heapq
import sys
import time
import traceback
import uuid

import boto3
import botocore.config
import botocore.exceptions
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary

REGION = "eu-west-1"
TICKETS, JOBS = "minitickets-dev-tickets", "minitickets-dev-processed-jobs"
SEATS, WORKERS = 12, 16

endpoint = sys.argv[1]
config = botocore.config.Config(retries={"max_attempts": 0}, max_pool_connections=64, read_timeout=20)
session = boto3.session.Session("AKIDEXAMPLE", "any-secret", region_name=REGION)
client = session.client("dynamodb", endpoint_url=endpoint, config=config)
resource = session.resource("dynamodb", endpoint_url=endpoint, config=config)
checks = []


def check(name):
    def register(function):
        checks.append((name, function))
        return function

    return register


def refused(code, call, **arguments):
    """Calls, expects the error `code`, and gives its message."""
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == code, f"expected {code}, got {error}"
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400, error.response["ResponseMetadata"]
        return error.response["Error"]["Message"]
    raise AssertionError(f"expected {code}, but the call was accepted")


def eventually(read, wanted):
    """Reads until it gives what is wanted: a global index follows its table a moment later."""
    deadline = time.monotonic() + 10
    while (found := read()) != wanted and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found == wanted, f"wanted {wanted}, got {found}"


def pages_of(**request):
    """All items of a Query, however many pages."""
    return [item for page in resource.meta.client.get_paginator("query").paginate(**request) for item in page["Items"]]


def create_tickets_table(name):
    return client.create_table(
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("userId", "ticketId", "eventDate", "eventDateKey")
        ],
        KeySchema=[{"AttributeName": "userId", "KeyType": "HASH"}, {"AttributeName": "ticketId", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-event-date",
                "KeySchema": [{"AttributeName": "eventDate", "KeyType": "HASH"}, {"AttributeName": "eventDateKey", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def make_table(name, sort_key=None, **more):
    attributes = [{"AttributeName": "pk", "AttributeType": "S"}]
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}]
    if sort_key:
        attributes.append({"AttributeName": "sk", "AttributeType": sort_key})
        keys.append({"AttributeName": "sk", "KeyType": "RANGE"})
    more.setdefault("BillingMode", "PAY_PER_REQUEST")
    answer = client.create_table(TableName=name, AttributeDefinitions=attributes, KeySchema=keys, **more)
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    return answer["TableDescription"]


@check("minitickets: both tables are created and described as asked")
def tables():
    create_tickets_table(TICKETS)
    client.create_table(
        TableName=JOBS,
        AttributeDefinitions=[{"AttributeName": "jobKey", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "jobKey", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for name in (TICKETS, JOBS):
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    table = client.describe_table(TableName=TICKETS)["Table"]
    assert table["TableStatus"] == "ACTIVE", table["TableStatus"]
    assert table["KeySchema"] == [{"AttributeName": "userId", "KeyType": "HASH"}, {"AttributeName": "ticketId", "KeyType": "RANGE"}]
    index = table["GlobalSecondaryIndexes"][0]
    assert (index["IndexName"], index["IndexStatus"], index["Projection"]) == ("by-event-date", "ACTIVE", {"ProjectionType": "ALL"}), index
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TableArn"].startswith(f"arn:aws:dynamodb:{REGION}:"), table["TableArn"]


@check("minitickets: one winner a seat under a race; every loser strongly reads the winner's token")
def race():
    winners = {}

    def reserve(work):
        seat, worker = work
        ticket = {"userId": "user-1", "ticketId": f"booking-7:{seat}"}
        token = str(uuid.uuid4())
        item = dict(ticket, status="creating", qrToken=token, eventDate="2026-12-01", eventDateKey=f"2026-12-01T20:00:00Z#{ticket['ticketId']}")
        try:
            resource.Table(TICKETS).put_item(Item=item, ConditionExpression=Attr("userId").not_exists() & Attr("ticketId").not_exists())
            return seat, token, True
        except client.exceptions.ConditionalCheckFailedException as error:
            assert error.response["Error"]["Message"] == "The conditional request failed", error
            found = resource.Table(TICKETS).get_item(Key=ticket, ConsistentRead=True)["Item"]
            assert found["status"] == "creating" and found["ticketId"] == ticket["ticketId"], found
            return seat, found["qrToken"], False

    work = [(seat, worker) for worker in range(WORKERS) for seat in range(SEATS)]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        outcomes = list(pool.map(reserve, work))
    for seat in range(SEATS):
        winners[seat] = [token for outcome_seat, token, won in outcomes if outcome_seat == seat and won]
        seen = {token for outcome_seat, token, _ in outcomes if outcome_seat == seat}
        assert len(winners[seat]) == 1, f"seat {seat} has {len(winners[seat])} winners"
        assert seen == set(winners[seat]), f"seat {seat}: a loser saw another token"


def mark_ready(ticket, token):
    return resource.Table(TICKETS).update_item(
        Key=ticket,
        UpdateExpression="SET #s = :ready",
        ConditionExpression="qrToken = :token",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":ready": "ready", ":token": token},
        ReturnValues="ALL_NEW",
    )


@check("minitickets: marking ready needs the stored token; a wrong one is refused and changes nothing")
def ready():
    ticket = {"userId": "user-1", "ticketId": "booking-7:0"}
    before = resource.Table(TICKETS).get_item(Key=ticket, ConsistentRead=True)["Item"]
    refused("ConditionalCheckFailedException", mark_ready, ticket=ticket, token="not-the-token")
    assert resource.Table(TICKETS).get_item(Key=ticket, ConsistentRead=True)["Item"] == before
    after = mark_ready(ticket, before["qrToken"])["Attributes"]
    assert after == dict(before, status="ready"), after
    refused("ConditionalCheckFailedException", mark_ready, ticket=dict(ticket, ticketId="booking-7:none"), token=before["qrToken"])


@check("minitickets: an email's completion is recorded once, however many workers try")
def completion():
    def record(worker):
        try:
            resource.Table(JOBS).put_item(
                Item={"jobKey": "booking.confirmed:booking-7", "worker": worker, "expiresAt": 1798761600},
                ConditionExpression="attribute_not_exists(jobKey)",
            )
            return worker
        except client.exceptions.ConditionalCheckFailedException:
            return None

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        done = [worker for worker in pool.map(record, range(4 * WORKERS)) if worker is not None]
    assert len(done) == 1, f"{len(done)} workers recorded it"
    found = resource.Table(JOBS).get_item(Key={"jobKey": "booking.confirmed:booking-7"}, ConsistentRead=True)["Item"]
    assert found["worker"] == done[0] and found["expiresAt"] == 1798761600, found


@check("minitickets: a user's 400 tickets over pages, strongly consistent, in both directions; a parallel scan shares them out")
def tickets_of_a_user():
    table, user = resource.Table(TICKETS), "user-400"
    wanted = [f"booking-{number:03d}" for number in range(400)]
    with table.batch_writer() as batch:
        for ticket in reversed(wanted):
            batch.put_item(Item={"userId": user, "ticketId": ticket, "status": "ready" if ticket.endswith("7") else "creating", "qr": "x" * 4000})
    pages = list(
        client.get_paginator("query").paginate(
            TableName=TICKETS, KeyConditionExpression="userId = :user", ExpressionAttributeValues={":user": {"S": user}}, ConsistentRead=True
        )
    )
    assert len(pages) == 2, len(pages)  # 400 tickets of 4 KB are 1.6 MB
    assert [item["ticketId"]["S"] for page in pages for item in page["Items"]] == wanted
    newest = table.query(KeyConditionExpression=Key("userId").eq(user) & Key("ticketId").begins_with("booking-3"), ScanIndexForward=False, Limit=10)
    assert [item["ticketId"] for item in newest["Items"]] == wanted[:389:-1], newest["Items"]
    assert newest["LastEvaluatedKey"] == {"userId": user, "ticketId": "booking-390"}, newest["LastEvaluatedKey"]
    found, start = [], {}
    while True:
        page = table.scan(FilterExpression=Attr("status").eq("ready") & Attr("userId").eq(user), ProjectionExpression="ticketId", ConsistentRead=True, **start)
        found += [item["ticketId"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert sorted(found) == [ticket for ticket in wanted if ticket.endswith("7")], found
    scan = client.get_paginator("scan")
    parts = [
        [(item["userId"]["S"], item["ticketId"]["S"]) for page in scan.paginate(TableName=TICKETS, Segment=segment, TotalSegments=4) for item in page["Items"]]
        for segment in range(4)
    ]
    whole = [(item["userId"]["S"], item["ticketId"]["S"]) for page in scan.paginate(TableName=TICKETS) for item in page["Items"]]
    assert sum(parts, []) == whole and len(set(whole)) == len(whole) >= 400, [len(part) for part in parts]


@check("minitickets: the event's tickets through the by-event-date index, in order, over pages; a strong read of it is refused")
def tickets_of_an_event():
    wanted = sorted(f"booking-7:{seat}" for seat in range(SEATS))
    request = dict(TableName=TICKETS, IndexName="by-event-date", KeyConditionExpression=Key("eventDate").eq("2026-12-01"))
    eventually(lambda: [item["ticketId"] for item in pages_of(**request, PaginationConfig={"PageSize": 5})], wanted)
    eventually(lambda: [item["status"] for item in pages_of(**request) if item["ticketId"] == "booking-7:0"], ["ready"])  # as an update left it
    tonight = dict(request, KeyConditionExpression=Key("eventDate").eq("2026-12-01") & Key("eventDateKey").begins_with("2026-12-01T20:00:00Z#booking-7:1"))
    assert [item["ticketId"] for item in pages_of(**tonight, ScanIndexForward=False)] == ["booking-7:11", "booking-7:10", "booking-7:1"]
    first = resource.meta.client.query(**request, Limit=1)
    assert set(first["LastEvaluatedKey"]) == {"eventDate", "eventDateKey", "userId", "ticketId"}, first["LastEvaluatedKey"]
    message = refused("ValidationException", resource.meta.client.query, ConsistentRead=True, **request)
    assert message == "Consistent reads are not supported on global secondary indexes", message


ORDERS, DAY, SHARDS = 200, "2025-06-01", 10


def order(number):
    """Northwind's order, pending; every third was made the day before."""
    day = "2025-05-31" if number % 3 == 0 else DAY
    return {
        "orderId": f"{number:04d}", "customerId": f"c{number % 7}", "status": "PENDING", "createdAt": f"{day}T{number // 60:02d}:{number % 60:02d}:00Z",
        "total": decimal.Decimal(number), "notes": "x" * 500,
    }


@check("northwind before: an index on the raw status has every pending order; today's are filtered out of pages that are all paid for")
def northwind_before():
    keys = [{"AttributeName": "status", "KeyType": "HASH"}]
    client.create_table(
        TableName="orders-before", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("orderId", "status")],
        KeySchema=[{"AttributeName": "orderId", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[{"IndexName": "status", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}],
    )
    client.get_waiter("table_exists").wait(TableName="orders-before", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    with resource.Table("orders-before").batch_writer() as batch:
        for number in range(ORDERS):
            batch.put_item(Item=order(number))
    request = dict(TableName="orders-before", IndexName="status", KeyConditionExpression=Key("status").eq("PENDING"))
    today = dict(request, FilterExpression=Attr("createdAt").begins_with(DAY), PaginationConfig={"PageSize": 30})
    eventually(lambda: len(pages_of(**request)), ORDERS)
    assert sorted(item["orderId"] for item in pages_of(**today)) == [f"{number:04d}" for number in range(ORDERS) if number % 3]
    units = [page["ConsumedCapacity"] for page in resource.meta.client.get_paginator("query").paginate(ReturnConsumedCapacity="INDEXES", **today)]
    assert len(units) == 7 and all(unit["Table"]["CapacityUnits"] == 0 for unit in units), units
    assert all(unit["GlobalSecondaryIndexes"]["status"]["CapacityUnits"] == unit["CapacityUnits"] >= 2 for unit in units[:6]), units
    client.delete_table(TableName="orders-before")


def make_orders_after():
    def keys(partition, sort):
        return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]

    shown = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["customerId", "total"]}
    client.create_table(
        TableName="orders-after", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "customer", "statusDay", "made")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {"IndexName": "by-customer", "KeySchema": keys("customer", "made"), "Projection": {"ProjectionType": "ALL"}},
            {"IndexName": "pending", "KeySchema": keys("statusDay", "made"), "Projection": shown},
        ],
    )
    client.get_waiter("table_exists").wait(TableName="orders-after", WaiterConfig={"Delay": 1, "MaxAttempts": 20})


def pending_today():
    """Ten queries beside one another, merged in the order of creation."""
    def shard(number):
        return pages_of(TableName="orders-after", IndexName="pending", KeyConditionExpression=Key("statusDay").eq(f"STATUS#PENDING#{DAY}#{number}"))

    with concurrent.futures.ThreadPoolExecutor(SHARDS) as pool:
        return list(heapq.merge(*pool.map(shard, range(SHARDS)), key=lambda item: item["made"]))


@check("northwind after: a customer's orders newest first; today's pending ones from ten shards of a sparse index, merged in order")
def northwind_after():
    make_orders_after()
    table = resource.Table("orders-after")
    orders = []
    with table.batch_writer() as batch:
        for number in range(ORDERS):
            made = order(number)
            day, name = made["createdAt"][:10], f"ORDER#{made['orderId']}"
            orders.append(dict(made, pk=name, customer=f"CUSTOMER#{made['customerId']}", made=f"{made['createdAt']}#{made['orderId']}"))
            batch.put_item(Item=dict(orders[-1], statusDay=f"STATUS#PENDING#{day}#{number % SHARDS}"))
    of_customer = sorted((item["made"] for item in orders if item["customer"] == "CUSTOMER#c3"), reverse=True)
    request = dict(TableName="orders-after", IndexName="by-customer", KeyConditionExpression=Key("customer").eq("CUSTOMER#c3"), ScanIndexForward=False)
    eventually(lambda: [item["made"] for item in pages_of(**request, PaginationConfig={"PageSize": 4})], of_customer)
    today = sorted((item for item in orders if item["createdAt"].startswith(DAY)), key=lambda item: item["made"])
    eventually(lambda: [item["pk"] for item in pending_today()], [item["pk"] for item in today])
    assert set(pending_today()[0]) == {"pk", "statusDay", "made", "customerId", "total"}, pending_today()[0]
    shipped = dict(UpdateExpression="SET #s = :s REMOVE statusDay", ExpressionAttributeNames={"#s": "status"}, ExpressionAttributeValues={":s": "SHIPPED"})
    for item in today[::2]:  # out of the index, and still the customer's
        table.update_item(Key={"pk": item["pk"]}, **shipped)
    eventually(lambda: [item["pk"] for item in pending_today()], [item["pk"] for item in today[1::2]])
    assert [item["made"] for item in pages_of(**request)] == of_customer
    message = refused("ValidationException", table.query, IndexName="pending", KeyConditionExpression=Key("statusDay").eq("x"), ProjectionExpression="notes")
    assert message == "One or more parameter values were invalid: Global secondary index pending does not project [notes]", message
    client.delete_table(TableName="orders-after")


@check("items: all ten types, binary, 38 digits and Unicode come back as they went")
def types():
    make_table("types", "N")
    digits = decimal.Decimal("-1.2345678901234567890123456789012345678e-100")
    item = {
        "pk": "ключ/鍵/🗝️",
        "sk": decimal.Decimal("12345678901234567890123456789012345678"),
        "S": "é e\u0301 \u0000 \"quoted\" \\ \u2028 𝄞",
        "N": digits,
        "small": decimal.Decimal("1E-130"),
        "B": Binary(bytes(range(256))),
        "BOOL": True,
        "no": False,
        "NULL": None,
        "L": ["a", decimal.Decimal(1), [], {}, None, Binary(b"")],
        "M": {"m": "m", "nested": {"deep": [{"x": {"ß"}}]}},
        "SS": {"a", "b", ""},
        "NS": {decimal.Decimal(1), decimal.Decimal("2.5"), decimal.Decimal("-1E+30")},
        "BS": {Binary(b"\x00"), Binary(b"\xff\xfe")},
        "empty": "",
        "empty binary": Binary(b""),
    }
    table = resource.Table("types")
    table.put_item(Item=item)
    key = {"pk": item["pk"], "sk": item["sk"]}
    found = table.get_item(Key=key, ConsistentRead=True)["Item"]
    assert found == item, {name: (found.get(name), item.get(name)) for name in set(found) | set(item) if found.get(name) != item.get(name)}
    raw = client.get_item(TableName="types", Key={"pk": {"S": item["pk"]}, "sk": {"N": "12345678901234567890123456789012345678.000"}})
    assert raw["Item"]["N"]["N"].count("0") > 90 or "E-" in raw["Item"]["N"]["N"], raw["Item"]["N"]
    assert raw["Item"]["SS"]["SS"] == ["", "a", "b"], raw["Item"]["SS"]
    # boto3's resource cannot hold this one: it comes back with 126 digits, as from AWS.
    client.put_item(TableName="types", Item={"pk": {"S": "large"}, "sk": {"N": "1"}, "N": {"N": "9.9999999999999999999999999999999999999E+125"}})
    raw = client.get_item(TableName="types", Key={"pk": {"S": "large"}, "sk": {"N": "1"}})
    assert raw["Item"]["N"]["N"] == "9" * 38 + "0" * 88, raw["Item"]["N"]


@check("items: values outside the model are refused with ValidationException")
def bad_values():
    put = client.put_item
    key = {"pk": {"S": "bad"}, "sk": {"N": "1"}}
    for value, text in [
        ({"N": "1" * 39}, "more than 38 significant digits"),
        ({"N": "1e126"}, "Number overflow"),
        ({"N": "1e-131"}, "Number underflow"),
        ({"N": "ten"}, "cannot be converted to a numeric value"),
        ({"SS": []}, "An string set  may not be empty"),
        ({"SS": ["a", "a"]}, "contains duplicates"),
        ({"NS": ["1", "1.0"]}, "contains duplicates"),
        ({"NULL": False}, "must have the value of true"),
        ({"S": "x" * 410000}, "Item size has exceeded the maximum allowed size"),
    ]:
        message = refused("ValidationException", put, TableName="types", Item=dict(key, v=value))
        assert text in message, (str(value)[:60], message)
    message = refused("ValidationException", put, TableName="types", Item={"pk": {"S": ""}, "sk": {"N": "1"}})
    assert "cannot contain an empty string value. Key: pk" in message, message
    message = refused("ValidationException", put, TableName="types", Item={"pk": {"S": "no sort key"}})
    assert "Missing the key sk in the item" in message, message
    assert "Item" not in client.get_item(TableName="types", Key=key, ConsistentRead=True)


@check("updates: SET, REMOVE, ADD, DELETE, functions, nested paths and all five ReturnValues")
def updates():
    make_table("updates")
    table = resource.Table("updates")
    key = {"pk": "u"}
    table.put_item(Item={"pk": "u", "n": 1, "l": [1, 2, 3], "m": {"a": {"b": 1}}, "tags": {"x", "y"}, "gone": "soon"})
    after = table.update_item(
        Key=key,
        UpdateExpression="SET n = n + :one, l[1] = :two, m.a.b = if_not_exists(m.a.c, :d), #new = list_append(l, :more) REMOVE gone ADD hits :one DELETE tags :x",
        ExpressionAttributeNames={"#new": "status"},
        ExpressionAttributeValues={":one": 1, ":two": "two", ":d": "default", ":more": [4], ":x": {"x"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    assert after == {
        "pk": "u", "n": 2, "l": [1, "two", 3], "m": {"a": {"b": "default"}}, "tags": {"y"}, "status": [1, 2, 3, 4], "hits": 1,
    }, after

    def bump(return_values):
        answer = table.update_item(
            Key=key, UpdateExpression="SET n = n + :one", ExpressionAttributeValues={":one": 1}, ReturnValues=return_values
        )
        return answer.get("Attributes")

    assert bump("NONE") is None
    assert bump("UPDATED_OLD") == {"n": 3}
    assert bump("UPDATED_NEW") == {"n": 5}
    assert bump("ALL_OLD")["n"] == 5
    assert bump("ALL_NEW")["n"] == 7
    new = table.update_item(Key={"pk": "made"}, UpdateExpression="ADD seen :v", ExpressionAttributeValues={":v": {1, 2}}, ReturnValues="ALL_NEW")
    assert new["Attributes"] == {"pk": "made", "seen": {1, 2}}
    old = table.delete_item(Key={"pk": "made"}, ReturnValues="ALL_OLD", ConditionExpression=Attr("seen").contains(2))
    assert old["Attributes"]["seen"] == {1, 2}
    refused("ValidationException", table.update_item, Key=key, UpdateExpression="SET pk = :v", ExpressionAttributeValues={":v": "other"})
    refused("ValidationException", table.update_item, Key=key, UpdateExpression="SET missing.path = :v", ExpressionAttributeValues={":v": 1})
    message = refused("ValidationException", table.update_item, Key=key, UpdateExpression="SET n = :v REMOVE", ExpressionAttributeValues={":v": 1})
    assert "Invalid UpdateExpression: Syntax error; token:" in message, message


@check("updates: a thousand racing increments are all counted")
def counter():
    table_name, times = "updates", 1000

    def add(_):
        client.update_item(
            TableName=table_name, Key={"pk": {"S": "counter"}}, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}}
        )

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(add, range(times)))
    found = client.get_item(TableName=table_name, Key={"pk": {"S": "counter"}}, ConsistentRead=True)["Item"]
    assert found["n"] == {"N": str(times)}, found


@check("reads: projections of nested paths, list elements and placeholders; a missing item has no Item")
def projections():
    make_table("reads")
    table = resource.Table("reads")
    table.put_item(Item={"pk": "p", "a": {"b": 1, "c": 2}, "l": [10, {"x": 1, "y": 2}, 30], "size": "reserved"})
    got = table.get_item(Key={"pk": "p"}, ProjectionExpression="a.b, l[2], l[1].x, #s", ExpressionAttributeNames={"#s": "size"})["Item"]
    assert got == {"a": {"b": 1}, "l": [{"x": 1}, 30], "size": "reserved"}, got
    assert table.get_item(Key={"pk": "p"}, ProjectionExpression="nothing")["Item"] == {}
    assert "Item" not in table.get_item(Key={"pk": "absent"})
    message = refused("ValidationException", table.get_item, Key={"pk": "p"}, ProjectionExpression="a, a.b")
    assert "Two document paths overlap" in message, message
    message = refused("ValidationException", table.get_item, Key={"pk": "p"}, ProjectionExpression="size")
    assert "reserved keyword: size" in message, message
    refused("ValidationException", table.get_item, Key={"wrong": "p"})


@check("batches: 60 writes in batches, 100 keys read at once with a projection, duplicates refused")
def batches():
    make_table("batches", "S")
    table = resource.Table("batches")
    with table.batch_writer() as writer:
        for number in range(60):
            writer.put_item(Item={"pk": f"p{number % 7}", "sk": f"s{number}", "n": number, "fat": "x" * 100})
    keys = [{"pk": {"S": f"p{number % 7}"}, "sk": {"S": f"s{number}"}} for number in range(100)]
    answer = client.batch_get_item(RequestItems={"batches": {"Keys": keys, "ProjectionExpression": "n", "ConsistentRead": True}})
    assert sorted(int(item["n"]["N"]) for item in answer["Responses"]["batches"]) == list(range(60))
    assert answer["UnprocessedKeys"] == {} and all(set(item) == {"n"} for item in answer["Responses"]["batches"])
    with table.batch_writer() as writer:
        for number in range(60):
            writer.delete_item(Key={"pk": f"p{number % 7}", "sk": f"s{number}"})
    answer = client.batch_get_item(RequestItems={"batches": {"Keys": keys}})
    assert answer["Responses"]["batches"] == [], answer["Responses"]
    put = {"PutRequest": {"Item": {"pk": {"S": "d"}, "sk": {"S": "d"}}}}
    message = refused("ValidationException", client.batch_write_item, RequestItems={"batches": [put, put]})
    assert message == "Provided list of item keys contains duplicates", message
    refused("ResourceNotFoundException", client.batch_write_item, RequestItems={"no-such-table": [put]})
    refused("ValidationException", client.batch_get_item, RequestItems={"batches": {"Keys": keys[:50] + keys[:1]}})


@check("tables: create, use twice refused, list in pages, change throughput and billing, delete, wait")
def lifecycle():
    made = make_table(
        "lifecycle", BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        Tags=[{"Key": "team", "Value": "tickets"}], TableClass="STANDARD_INFREQUENT_ACCESS",
    )
    assert made["ProvisionedThroughput"]["ReadCapacityUnits"] == 5 and made["TableId"], made
    message = refused("ResourceInUseException", make_table, name="lifecycle")
    assert "lifecycle" in message, message
    names = [name for page in client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2}) for name in page["TableNames"]]
    assert names == sorted(names) and {"lifecycle", TICKETS, JOBS} <= set(names), names
    client.update_table(TableName="lifecycle", ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 6})
    client.get_waiter("table_exists").wait(TableName="lifecycle", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    table = client.describe_table(TableName="lifecycle")["Table"]
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7, table
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS", table
    client.update_table(TableName="lifecycle", BillingMode="PAY_PER_REQUEST")
    client.get_waiter("table_exists").wait(TableName="lifecycle", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    assert client.describe_table(TableName="lifecycle")["Table"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    client.delete_table(TableName="lifecycle")
    client.get_waiter("table_not_exists").wait(TableName="lifecycle", WaiterConfig={"Delay": 1, "MaxAttempts": 20})
    message = refused("ResourceNotFoundException", client.describe_table, TableName="lifecycle")
    assert message == "Requested resource not found: Table: lifecycle not found", message
    message = refused("ResourceNotFoundException", client.get_item, TableName="lifecycle", Key={"pk": {"S": "a"}})
    assert message == "Requested resource not found", message
    make_table("lifecycle")
    assert "Item" not in client.get_item(TableName="lifecycle", Key={"pk": {"S": "a"}}, ConsistentRead=True)


@check("tables: tags are set, listed and removed")
def tags():
    arn = client.describe_table(TableName=TICKETS)["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "env", "Value": "dev"}, {"Key": "owner", "Value": "größe"}])
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "env", "Value": "test"}])
    listed = {tag["Key"]: tag["Value"] for tag in client.list_tags_of_resource(ResourceArn=arn)["Tags"]}
    assert listed == {"env": "test", "owner": "größe"}, listed
    client.untag_resource(ResourceArn=arn, TagKeys=["owner", "absent"])
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "env", "Value": "test"}]


@check("capacity: reads and writes say what they consumed")
def capacity():
    def units(call, **arguments):
        return call(TableName="reads", ReturnConsumedCapacity="TOTAL", **arguments)["ConsumedCapacity"]["CapacityUnits"]

    item = {"pk": {"S": "fat"}, "v": {"S": "x" * 5000}}
    assert units(client.put_item, Item=item) == 5
    key = {"pk": {"S": "fat"}}
    assert units(client.get_item, Key=key) == 1
    assert units(client.get_item, Key=key, ConsistentRead=True) == 2
    assert units(client.get_item, Key={"pk": {"S": "none"}}) == 0.5
    assert units(client.delete_item, Key=key) == 5


@check("account: limits and endpoints are described")
def account():
    limits = client.describe_limits()
    assert limits["TableMaxReadCapacityUnits"] > 0 and limits["AccountMaxWriteCapacityUnits"] > 0, limits
    assert client.describe_endpoints()["Endpoints"][0]["CachePeriodInMinutes"] > 0


@check("errors: each is boto3's own exception class, with a request id")
def errors():
    try:
        client.get_item(TableName="no-such-table", Key={"pk": {"S": "a"}})
    except client.exceptions.ResourceNotFoundException as error:
        assert error.response["ResponseMetadata"]["RequestId"], error.response
        assert len(error.response["ResponseMetadata"]["HTTPHeaders"]["x-amzn-requestid"]) == 52, error.response
    else:
        raise AssertionError("a missing table was read")
    message = refused("ValidationException", client.put_item, TableName="reads", Item={"pk": {"S": "a"}}, ReturnValues="ALL_NEW")
    assert message.endswith("ReturnValues can only be ALL_OLD or NONE"), message


def main():
    failed = 0
    for name, function in checks:
        try:
            function()
            print(f"ok - boto3: {name}", flush=True)
        except Exception as error:  # every failure is one line, and the rest still runs
            failed += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = (str(error) or type(error).__name__).replace("\n", " ")[:600]
            print(f"not ok - boto3: {name}: {text} (boto.py:{where.lineno if where.filename == __file__ else '?'})", flush=True)
    return 1 if failed else 0


sys.exit(main())
