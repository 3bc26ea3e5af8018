// The AWS SDK for JavaScript v3 against a running stator: MiniTickets under a race, a round trip of everything a client
// sees, and the newer members of the API that the Python clients of Debian lack.
//
// Usage: node sdk.mjs ENDPOINT   prints one line a check ("ok - ..." or "not ok - ..."); exit 1 if one failed.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, NumberValue, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";

const region = "ap-southeast-2";
const tickets = "minitickets-dev-tickets";
const jobs = "minitickets-dev-processed-jobs";
const seats = 12;
const workers = 16;

const client = new dynamodb.DynamoDBClient({
  endpoint: process.argv[2],
  region,
  credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "any-secret", sessionToken: "any-token" },
  maxAttempts: 1,
  requestHandler: { httpAgent: { keepAlive: true, maxSockets: 64 } },
});
const documents = DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: true } });
const checks = [];
const check = (name, run) => checks.push([name, run]);
const send = (command, input) => client.send(new dynamodb[`${command}Command`](input));

/** Sends, expects the error `name`, and gives it. */
async function refused(name, command, input) {
  try {
    await send(command, input);
  } catch (error) {
    assert.equal(error.name, name, `expected ${name}, got ${error.name}: ${error.message}`);
    assert.equal(error.$metadata.httpStatusCode, 400);
    return error;
  }
  assert.fail(`expected ${name}, but the call was accepted`);
}

async function makeTable(name, more = {}) {
  const answer = await send("CreateTable", {
    TableName: name,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
    ...more,
  });
  await dynamodb.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName: name });
  return answer.TableDescription;
}

check("minitickets: both tables are created and described as asked", async () => {
  const strings = (...names) => names.map((name) => ({ AttributeName: name, AttributeType: "S" }));
  const keys = (hash, range) => [
    { AttributeName: hash, KeyType: "HASH" },
    ...(range ? [{ AttributeName: range, KeyType: "RANGE" }] : []),
  ];
  await makeTable(tickets, {
    AttributeDefinitions: strings("userId", "ticketId", "eventDate", "eventDateKey"),
    KeySchema: keys("userId", "ticketId"),
    GlobalSecondaryIndexes: [
      { IndexName: "by-event-date", KeySchema: keys("eventDate", "eventDateKey"), Projection: { ProjectionType: "ALL" } },
    ],
  });
  await makeTable(jobs, { AttributeDefinitions: strings("jobKey"), KeySchema: keys("jobKey") });
  const { Table: table } = await send("DescribeTable", { TableName: tickets });
  assert.equal(table.TableStatus, "ACTIVE");
  assert.deepEqual(table.KeySchema, keys("userId", "ticketId"));
  assert.deepEqual(table.GlobalSecondaryIndexes[0].KeySchema, keys("eventDate", "eventDateKey"));
  assert.equal(table.GlobalSecondaryIndexes[0].IndexStatus, "ACTIVE");
  assert.equal(table.BillingModeSummary.BillingMode, "PAY_PER_REQUEST");
  assert.ok(table.CreationDateTime instanceof Date && Math.abs(Date.now() - table.CreationDateTime) < 60000);
  const { Table: processed } = await send("DescribeTable", { TableName: jobs });
  assert.deepEqual(processed.KeySchema, keys("jobKey"));
});

async function reserve(seat) {
  const key = { userId: { S: "user-1" }, ticketId: { S: `booking-7:${seat}` } };
  const token = randomUUID();
  const item = {
    ...key,
    status: { S: "creating" },
    qrToken: { S: token },
    eventDate: { S: "2026-12-01" },
    eventDateKey: { S: `2026-12-01T20:00:00Z#booking-7:${seat}` },
  };
  const condition = "attribute_not_exists(userId) AND attribute_not_exists(ticketId)";
  try {
    await send("PutItem", { TableName: tickets, Item: item, ConditionExpression: condition });
    return { seat, token, won: true };
  } catch (error) {
    assert.ok(error instanceof dynamodb.ConditionalCheckFailedException, `${error.name}: ${error.message}`);
    const { Item: found } = await send("GetItem", { TableName: tickets, Key: key, ConsistentRead: true });
    assert.equal(found.status.S, "creating");
    return { seat, token: found.qrToken.S, won: false };
  }
}

check("minitickets: one winner a seat under a race; every loser strongly reads the winner's token", async () => {
  const work = Array.from({ length: workers * seats }, (_, number) => reserve(number % seats));
  const outcomes = await Promise.all(work);
  for (let seat = 0; seat < seats; seat++) {
    const ofSeat = outcomes.filter((outcome) => outcome.seat === seat);
    assert.equal(ofSeat.filter((outcome) => outcome.won).length, 1, `winners of seat ${seat}`);
    assert.equal(new Set(ofSeat.map((outcome) => outcome.token)).size, 1, `tokens seen for seat ${seat}`);
  }
});

check("minitickets: marking ready needs the stored token; the refusal can carry the item", async () => {
  const key = { userId: { S: "user-1" }, ticketId: { S: "booking-7:0" } };
  const { Item: before } = await send("GetItem", { TableName: tickets, Key: key, ConsistentRead: true });
  const markReady = (token) => ({
    TableName: tickets,
    Key: key,
    UpdateExpression: "SET #s = :ready",
    ConditionExpression: "qrToken = :token",
    ExpressionAttributeNames: { "#s": "status" },
    ExpressionAttributeValues: { ":ready": { S: "ready" }, ":token": { S: token } },
    ReturnValues: "ALL_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  const error = await refused("ConditionalCheckFailedException", "UpdateItem", markReady("not-the-token"));
  assert.deepEqual(error.Item, before);
  const { Attributes: after } = await send("UpdateItem", markReady(before.qrToken.S));
  assert.deepEqual(after, { ...before, status: { S: "ready" } });
});

check("minitickets: an email's completion is recorded once, however many workers try", async () => {
  const record = (worker) =>
    send("PutItem", {
      TableName: jobs,
      Item: { jobKey: { S: "booking.confirmed:booking-7" }, worker: { N: String(worker) }, expiresAt: { N: "1798761600" } },
      ConditionExpression: "attribute_not_exists(jobKey)",
    }).then(
      () => worker,
      (error) => assert.equal(error.name, "ConditionalCheckFailedException"),
    );
  const done = (await Promise.all(Array.from({ length: 64 }, (_, worker) => record(worker)))).filter((worker) => worker !== undefined);
  assert.equal(done.length, 1);
  const { Item: found } = await send("GetItem", { TableName: jobs, Key: { jobKey: { S: "booking.confirmed:booking-7" } }, ConsistentRead: true });
  assert.equal(found.worker.N, String(done[0]));
});

check("minitickets: a user's 400 tickets over pages, strongly consistent, in both directions; a parallel scan shares them out", async () => {
  const user = { S: "user-400" };
  const wanted = Array.from({ length: 400 }, (_, number) => `booking-${String(number).padStart(3, "0")}`);
  for (let first = 0; first < wanted.length; first += 25) {
    const puts = wanted.slice(first, first + 25).map((ticket) => ({
      PutRequest: { Item: { userId: user, ticketId: { S: ticket }, qr: { S: "x".repeat(4000) } } },
    }));
    assert.deepEqual((await send("BatchWriteItem", { RequestItems: { [tickets]: puts } })).UnprocessedItems, {});
  }
  const query = {
    TableName: tickets,
    KeyConditionExpression: "userId = :user",
    ExpressionAttributeValues: { ":user": user },
    ConsistentRead: true,
  };
  for (const forward of [true, false]) {
    const found = [];
    let pages = 0;
    for await (const page of dynamodb.paginateQuery({ client }, { ...query, ScanIndexForward: forward })) {
      found.push(...page.Items.map((item) => item.ticketId.S));
      pages += 1;
    }
    assert.deepEqual(found, forward ? wanted : [...wanted].reverse());
    assert.equal(pages, 2); // 400 tickets of 4 KB are 1.6 MB
  }
  const key = ({ userId, ticketId }) => `${userId.S} ${ticketId.S}`;
  const scan = async (segment) => {
    const found = [];
    for await (const page of dynamodb.paginateScan({ client }, { TableName: tickets, ...segment })) found.push(...page.Items.map(key));
    return found;
  };
  const parts = await Promise.all([0, 1, 2, 3].map((Segment) => scan({ Segment, TotalSegments: 4 })));
  assert.deepEqual(parts.flat(), await scan({}));
  assert.ok(parts.flat().length >= 400);
});

/** Reads until it gives what is wanted: a global index follows its table a moment later. */
async function eventually(read, wanted) {
  const deadline = Date.now() + 10000;
  for (;;) {
    const found = await read();
    try {
      return assert.deepEqual(found, wanted);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** All items of all pages. (The paginator writes its place into the request that it is given.) */
async function allOf(request, pageSize) {
  const found = [];
  for await (const page of dynamodb.paginateQuery({ client, pageSize }, { ...request })) found.push(...page.Items);
  return found;
}

check("minitickets: the event's tickets through the by-event-date index, in order, over pages; a strong read of it is refused", async () => {
  const request = {
    TableName: tickets,
    IndexName: "by-event-date",
    KeyConditionExpression: "eventDate = :date",
    ExpressionAttributeValues: { ":date": { S: "2026-12-01" } },
  };
  const wanted = Array.from({ length: seats }, (_, seat) => `booking-7:${seat}`).sort();
  const names = async (more, pageSize) => (await allOf({ ...request, ...more }, pageSize)).map((item) => item.ticketId.S);
  await eventually(() => names({}, 5), wanted);
  assert.deepEqual(await names({ ScanIndexForward: false }, 1), [...wanted].reverse());
  const { LastEvaluatedKey: last } = await send("Query", { ...request, Limit: 1 });
  assert.deepEqual(Object.keys(last).sort(), ["eventDate", "eventDateKey", "ticketId", "userId"]);
  const error = await refused("ValidationException", "Query", { ...request, ConsistentRead: true });
  assert.equal(error.message, "Consistent reads are not supported on global secondary indexes");
  const other = { ...request, ExpressionAttributeValues: { ":date": { S: "2026-12-02" } }, ExclusiveStartKey: last };
  const forged = await refused("ValidationException", "Query", other);
  assert.equal(forged.message, "The provided starting key is outside query boundaries based on provided conditions");
});

check("northwind: an index is made online, then a customer's orders newest first, and today's pending ones from ten shards merged", async () => {
  const table = "orders";
  const strings = (...names) => names.map((AttributeName) => ({ AttributeName, AttributeType: "S" }));
  const keys = (hash, range) => [{ AttributeName: hash, KeyType: "HASH" }, ...(range ? [{ AttributeName: range, KeyType: "RANGE" }] : [])];
  await makeTable(table, {
    AttributeDefinitions: strings("pk", "status"),
    GlobalSecondaryIndexes: [{ IndexName: "status", KeySchema: keys("status"), Projection: { ProjectionType: "ALL" } }],
  });
  const orders = Array.from({ length: 100 }, (_, number) => {
    const day = number % 3 === 0 ? "2025-05-31" : "2025-06-01";
    const made = `${day}T00:${String(number % 60).padStart(2, "0")}:00Z#${number}`;
    return {
      pk: { S: `ORDER#${number}` }, status: { S: "PENDING" }, customer: { S: `CUSTOMER#c${number % 5}` }, made: { S: made },
      statusDay: { S: `STATUS#PENDING#${day}#${number % 10}` }, total: { N: String(number) }, notes: { S: "x".repeat(300) },
    };
  });
  await Promise.all(orders.map((Item) => send("PutItem", { TableName: table, Item })));
  // Before: one partition of the index has every pending order there is.
  const pending = { TableName: table, IndexName: "status", KeyConditionExpression: "#s = :s", ExpressionAttributeNames: { "#s": "status" }, ExpressionAttributeValues: { ":s": { S: "PENDING" } } };
  await eventually(async () => (await allOf(pending, 30)).length, orders.length);
  // After: two indexes, made while the table is there.
  const online = [
    { IndexName: "by-customer", KeySchema: keys("customer", "made"), Projection: { ProjectionType: "ALL" } },
    { IndexName: "pending", KeySchema: keys("statusDay", "made"), Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["total"] } },
  ];
  const status = async (name) => (await send("DescribeTable", { TableName: table })).Table.GlobalSecondaryIndexes.find((index) => index.IndexName === name).IndexStatus;
  for (const Create of online) {
    await send("UpdateTable", { TableName: table, AttributeDefinitions: strings("pk", "status", "customer", "made", "statusDay"), GlobalSecondaryIndexUpdates: [{ Create }] });
    await eventually(() => status(Create.IndexName), "ACTIVE");
    await dynamodb.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName: table });
  }
  const query = (index, attribute, value, more = {}) =>
    allOf({ TableName: table, IndexName: index, KeyConditionExpression: `${attribute} = :v`, ExpressionAttributeValues: { ":v": { S: value } }, ...more }, 7);
  const newest = await query("by-customer", "customer", "CUSTOMER#c2", { ScanIndexForward: false });
  const ofCustomer = orders.filter((order) => order.customer.S === "CUSTOMER#c2").map((order) => order.made.S);
  assert.deepEqual(newest.map((order) => order.made.S), ofCustomer.sort().reverse());
  const today = async () => {
    const shards = await Promise.all(Array.from({ length: 10 }, (_, shard) => query("pending", "statusDay", `STATUS#PENDING#2025-06-01#${shard}`)));
    for (const shard of shards) assert.deepEqual(shard.map((order) => order.made.S), shard.map((order) => order.made.S).sort());
    return shards.flat().sort((a, b) => (a.made.S < b.made.S ? -1 : 1));
  };
  const wanted = orders.filter((order) => order.made.S.startsWith("2025-06-01")).sort((a, b) => (a.made.S < b.made.S ? -1 : 1));
  assert.deepEqual((await today()).map((order) => order.pk.S), wanted.map((order) => order.pk.S));
  assert.deepEqual(Object.keys((await today())[0]).sort(), ["made", "pk", "statusDay", "total"]);
  await Promise.all(wanted.slice(10).map(({ pk }) => send("UpdateItem", { TableName: table, Key: { pk }, UpdateExpression: "REMOVE statusDay" })));
  await eventually(async () => (await today()).map((order) => order.pk.S), wanted.slice(0, 10).map((order) => order.pk.S));
  await send("DeleteTable", { TableName: table });
  await dynamodb.waitUntilTableNotExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName: table });
});

check("items: all ten types, binary, 38 digits and Unicode come back as they went", async () => {
  await makeTable("types");
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const item = {
    pk: { S: "鍵/🗝️" },
    s: { S: 'é e\u0301 \u0000 "quoted" \\ \u2028 𝄞' },
    n: { N: "-12345678901234567890123456789012345678" },
    small: { N: "0.00000000012345678901234567890123456789012345678" },
    b: { B: bytes },
    yes: { BOOL: true },
    no: { BOOL: false },
    nil: { NULL: true },
    l: { L: [{ S: "a" }, { N: "1" }, { L: [] }, { M: {} }, { NULL: true }, { B: new Uint8Array(0) }] },
    m: { M: { "a.b": { M: { deep: { L: [{ SS: ["ß"] }] } } } } },
    ss: { SS: ["", "a", "b"] },
    ns: { NS: ["-1000", "1", "2.5"] },
    bs: { BS: [Uint8Array.of(0), Uint8Array.of(255, 254)] },
    empty: { S: "" },
  };
  await send("PutItem", { TableName: "types", Item: item });
  const { Item: found } = await send("GetItem", { TableName: "types", Key: { pk: item.pk }, ConsistentRead: true });
  for (const name of Object.keys(item)) assert.deepEqual(found[name], item[name], name);
  assert.equal(Object.keys(found).length, Object.keys(item).length);
});

check("items: the document client writes and reads plain objects, sets and exact numbers", async () => {
  await makeTable("documents");
  const item = {
    pk: "doc",
    count: NumberValue.from("99999999999999999999999999999999999998"),
    list: ["a", { nested: true }, null],
    tags: new Set(["x", "y"]),
    bytes: Uint8Array.of(1, 2, 3),
  };
  await documents.send(new PutCommand({ TableName: "documents", Item: item }));
  const after = await documents.send(
    new UpdateCommand({
      TableName: "documents",
      Key: { pk: "doc" },
      UpdateExpression: "SET #c = #c + :one, #l[1].nested = :no ADD tags :more",
      ExpressionAttributeNames: { "#c": "count", "#l": "list" },
      ExpressionAttributeValues: { ":one": 1, ":no": false, ":more": new Set(["z"]) },
      ReturnValues: "UPDATED_NEW",
    }),
  );
  assert.equal(after.Attributes.count.toString(), "99999999999999999999999999999999999999");
  assert.deepEqual(after.Attributes.tags, new Set(["x", "y", "z"]));
  const { Item: found } = await documents.send(new GetCommand({ TableName: "documents", Key: { pk: "doc" }, ConsistentRead: true }));
  assert.deepEqual(found.list, ["a", { nested: false }, null]);
});

check("updates: paths, functions and the five ReturnValues", async () => {
  await makeTable("updates");
  const key = { pk: { S: "u" } };
  await send("PutItem", { TableName: "updates", Item: { ...key, n: { N: "1" }, m: { M: { a: { L: [{ N: "1" }, { N: "2" }] } } }, gone: { S: "soon" } } });
  const update = (expression, values, returns, names) =>
    send("UpdateItem", {
      TableName: "updates", Key: key, UpdateExpression: expression, ExpressionAttributeValues: values, ReturnValues: returns, ExpressionAttributeNames: names,
    }).then((answer) => answer.Attributes);
  assert.deepEqual(await update("SET m.a[1] = :v, m.b = m.a REMOVE gone", { ":v": { N: "20" } }, "UPDATED_NEW"), {
    m: { M: { a: { L: [{ N: "20" }] }, b: { L: [{ N: "1" }, { N: "2" }] } } },
  });
  assert.deepEqual(await update("SET n = if_not_exists(absent, :z) - n", { ":z": { N: "10" } }, "UPDATED_OLD"), { n: { N: "1" } });
  assert.deepEqual((await update("ADD n :v", { ":v": { N: "0.5" } }, "ALL_NEW")).n, { N: "9.5" });
  assert.deepEqual((await update("ADD n :v", { ":v": { N: "0.5" } }, "ALL_OLD")).n, { N: "9.5" });
  assert.equal(await update("REMOVE n", undefined, "NONE"), undefined);
});

check("batches: writes and reads over two tables, with nothing left unprocessed", async () => {
  const keys = Array.from({ length: 20 }, (_, number) => ({ pk: { S: `batch-${number}` } }));
  const puts = keys.map((key, number) => ({ PutRequest: { Item: { ...key, n: { N: String(number) } } } }));
  const written = await send("BatchWriteItem", { RequestItems: { types: puts.slice(0, 10), updates: puts.slice(10) }, ReturnConsumedCapacity: "TOTAL" });
  assert.deepEqual(written.UnprocessedItems, {});
  assert.deepEqual(written.ConsumedCapacity.map((table) => table.CapacityUnits), [10, 10]);
  const read = await send("BatchGetItem", { RequestItems: { types: { Keys: keys }, updates: { Keys: keys, ProjectionExpression: "n" } } });
  assert.equal(read.Responses.types.length, 10);
  assert.deepEqual(read.Responses.updates.map((item) => Number(item.n.N)).sort((a, b) => a - b), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  assert.deepEqual(read.UnprocessedKeys, {});
});

check("tables: deletion protection, class, on-demand ceilings and tags are kept and shown", async () => {
  const made = await makeTable("settings", {
    DeletionProtectionEnabled: true,
    TableClass: "STANDARD_INFREQUENT_ACCESS",
    OnDemandThroughput: { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 50 },
    Tags: [{ Key: "env", Value: "test" }],
  });
  const { Table: table } = await send("DescribeTable", { TableName: "settings" });
  assert.equal(table.TableId, made.TableId);
  assert.equal(table.DeletionProtectionEnabled, true);
  assert.equal(table.TableClassSummary.TableClass, "STANDARD_INFREQUENT_ACCESS");
  assert.deepEqual(table.OnDemandThroughput, { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 50 });
  assert.deepEqual((await send("ListTagsOfResource", { ResourceArn: table.TableArn })).Tags, [{ Key: "env", Value: "test" }]);
  await refused("ValidationException", "DeleteTable", { TableName: "settings" });
  await send("UpdateTable", { TableName: "settings", DeletionProtectionEnabled: false });
  await dynamodb.waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName: "settings" });
  await send("DeleteTable", { TableName: "settings" });
  await dynamodb.waitUntilTableNotExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName: "settings" });
});

check("tables: ListTables pages, and another region's tables are not seen", async () => {
  const names = [];
  for await (const page of dynamodb.paginateListTables({ client, pageSize: 1 }, {})) names.push(...page.TableNames);
  assert.deepEqual(names, ["documents", jobs, tickets, "types", "updates"]);
  const elsewhere = new dynamodb.DynamoDBClient({
    endpoint: process.argv[2], region: "sa-east-1", credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "any" }, maxAttempts: 1,
  });
  assert.deepEqual((await elsewhere.send(new dynamodb.ListTablesCommand({}))).TableNames, []);
});

check("errors: the SDK's own classes, with message and request id", async () => {
  const missing = await refused("ResourceNotFoundException", "GetItem", { TableName: "absent", Key: { pk: { S: "a" } } });
  assert.ok(missing instanceof dynamodb.ResourceNotFoundException);
  assert.equal(missing.message, "Requested resource not found");
  assert.match(missing.$metadata.requestId, /^[A-Z0-9]{52}$/);
  const inUse = await refused("ResourceInUseException", "CreateTable", {
    TableName: "types",
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  });
  assert.ok(inUse instanceof dynamodb.ResourceInUseException);
  const invalid = await refused("ValidationException", "PutItem", { TableName: "types", Item: { pk: { N: "1" } } });
  assert.equal(invalid.message, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N");
});

let failed = 0;
for (const [name, run] of checks) {
  try {
    await run();
    console.log(`ok - JavaScript SDK: ${name}`);
  } catch (error) {
    failed++;
    const where = /sdk\.mjs:\d+/.exec(error.stack ?? "")?.[0] ?? "?";
    console.log(`not ok - JavaScript SDK: ${name}: ${String(error.message).replace(/\s+/g, " ").slice(0, 600)} (${where})`);
  }
}
client.destroy();
process.exit(failed ? 1 : 0);
