#!/bin/bash
# The AWS CLI against a running stator: MiniTickets' conditional writes under a race, and a round trip of the commands.
#
# Usage: cli.sh ENDPOINT   prints one line a check ("ok - ..." or "not ok - ..."); exit 1 if one failed.
set -u
endpoint=${1:?endpoint}
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=any-secret AWS_DEFAULT_REGION=us-east-1 AWS_MAX_ATTEMPTS=1 AWS_PAGER=""
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true LC_ALL=C.UTF-8
aws=aws
[ -x /usr/bin/aws ] && aws=/usr/bin/aws   # Debian's own, where another one shadows it on PATH
tickets=minitickets-dev-tickets jobs=minitickets-dev-processed-jobs
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
failures=0

ddb() { "$aws" --endpoint-url "$endpoint" --output json dynamodb "$@"; }
text() { ddb "$@" --output text; }

# A check is a function that returns nonzero, after saying why on stderr, when something is wrong.
check() {
  if "$2" >"$scratch/out" 2>"$scratch/err"; then
    echo "ok - AWS CLI: $1"
  else
    failures=$((failures + 1))
    echo "not ok - AWS CLI: $1: $(tail -n 4 "$scratch/err" | tr -s '\n' ' ' | cut -c1-600)"
  fi
}
same() { [ "$1" = "$2" ] || { echo "expected '$2', got '$1'" >&2; return 1; }; }
# refused NAME TEXT COMMAND...: the command fails with this error and its message holds this text.
refused() {
  local name=$1 wanted=$2 said
  shift 2
  if said=$(ddb "$@" 2>&1); then echo "expected $name, but it was accepted: $said" >&2; return 1; fi
  [[ $said == *"($name)"*"$wanted"* ]] || { echo "expected ($name) ... $wanted, got: $said" >&2; return 1; }
}

# eventually WANTED COMMAND...: the command's words, again until they are what is wanted: a global index follows its table a moment later.
eventually() {
  local wanted=$1 said _
  shift
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    said=$("$@" | xargs)
    [ "$said" = "$wanted" ] && return
    sleep 0.2
  done
  same "$said" "$wanted"
}

tables() {
  ddb create-table --table-name $tickets --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName={userId,ticketId,eventDate,eventDateKey},AttributeType=S \
    --key-schema AttributeName=userId,KeyType=HASH AttributeName=ticketId,KeyType=RANGE \
    --global-secondary-indexes '[{"IndexName":"by-event-date","KeySchema":[{"AttributeName":"eventDate","KeyType":"HASH"},
      {"AttributeName":"eventDateKey","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]' || return
  ddb create-table --table-name $jobs --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=jobKey,AttributeType=S --key-schema AttributeName=jobKey,KeyType=HASH || return
  ddb wait table-exists --table-name $tickets && ddb wait table-exists --table-name $jobs || return
  same "$(text describe-table --table-name $tickets \
    --query 'Table.[TableStatus, BillingModeSummary.BillingMode, GlobalSecondaryIndexes[0].IndexName, GlobalSecondaryIndexes[0].IndexStatus]')" \
    "ACTIVE	PAY_PER_REQUEST	by-event-date	ACTIVE"
}

# reserve SEAT WORKER: writes "won TOKEN", or what the loser then reads, into a file of its own.
reserve() {
  local token=token-$1-$2 key='{"userId":{"S":"user-1"},"ticketId":{"S":"booking-7:'$1'"}}' said
  if said=$(ddb put-item --table-name $tickets --condition-expression 'attribute_not_exists(userId) AND attribute_not_exists(ticketId)' \
    --item "${key%\}},"'"status":{"S":"creating"},"qrToken":{"S":"'"$token"'"},"eventDate":{"S":"2026-12-01"},
      "eventDateKey":{"S":"2026-12-01T20:00:00Z#booking-7:'"$1"'"}}' 2>&1); then
    echo "won $token"
  elif [[ $said == *"(ConditionalCheckFailedException)"*"The conditional request failed"* ]]; then
    echo "lost $(text get-item --table-name $tickets --key "$key" --consistent-read --query Item.qrToken.S)"
  else
    echo "wrong $said"
  fi >"$scratch/seat-$1-worker-$2"
}

race() {
  local seat worker
  for worker in 1 2 3 4 5; do
    for seat in 1 2 3; do reserve $seat $worker & done
  done
  wait
  for seat in 1 2 3; do
    same "$(cat "$scratch/seat-$seat-"* | grep -c '^won ')" 1 && same "$(cat "$scratch/seat-$seat-"* | grep -c '^lost ')" 4 || return
    same "$(cat "$scratch/seat-$seat-"* | cut -d' ' -f2 | sort -u | wc -l)" 1 || return
  done
}

ready() {
  local key='{"userId":{"S":"user-1"},"ticketId":{"S":"booking-7:1"}}' token
  token=$(text get-item --table-name $tickets --key "$key" --consistent-read --query Item.qrToken.S) || return
  local change=(update-item --table-name $tickets --key "$key" --update-expression 'SET #s = :ready' --condition-expression 'qrToken = :token'
    --expression-attribute-names '{"#s":"status"}' --return-values ALL_NEW)
  refused ConditionalCheckFailedException 'The conditional request failed' "${change[@]}" \
    --expression-attribute-values '{":ready":{"S":"ready"},":token":{"S":"not-the-token"}}' || return
  same "$(text get-item --table-name $tickets --key "$key" --consistent-read --query Item.status.S)" creating || return
  same "$(text "${change[@]}" --expression-attribute-values '{":ready":{"S":"ready"},":token":{"S":"'"$token"'"}}' \
    --query 'Attributes.[status.S, qrToken.S]')" "ready	$token"
}

completion() {
  local item='{"jobKey":{"S":"booking.confirmed:booking-7"},"expiresAt":{"N":"1798761600"}}'
  ddb put-item --table-name $jobs --item "$item" --condition-expression 'attribute_not_exists(jobKey)' || return
  refused ConditionalCheckFailedException 'The conditional request failed' put-item --table-name $jobs --item "$item" \
    --condition-expression 'attribute_not_exists(jobKey)' || return
  same "$(text get-item --table-name $jobs --key '{"jobKey":{"S":"booking.confirmed:booking-7"}}' --consistent-read --query Item.expiresAt.N)" 1798761600
}

types() {
  ddb create-table --table-name types --attribute-definitions AttributeName=pk,AttributeType=B AttributeName=sk,AttributeType=N \
    --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE \
    --provisioned-throughput ReadCapacityUnits=5,WriteCapacityUnits=5 --tags Key=env,Value=dev && ddb wait table-exists --table-name types || return
  local item='{"pk":{"B":"AAEC/w=="},"sk":{"N":"-12345678901234567890123456789012345678"},"s":{"S":"é 🗝️ \u0000"},"n":{"N":"0.1"},"yes":{"BOOL":true},
    "nil":{"NULL":true},"l":{"L":[{"S":"a"},{"M":{"x":{"N":"1"}}}]},"m":{"M":{"k":{"BS":["AA==","/w=="]}}},"ss":{"SS":["a","b"]},"ns":{"NS":["-1","2.5"]},"b":{"B":""}}'
  ddb put-item --table-name types --item "$item" || return
  ddb get-item --table-name types --key '{"pk":{"B":"AAEC/w=="},"sk":{"N":"-12345678901234567890123456789012345678"}}' --consistent-read >"$scratch/got" || return
  /usr/bin/python3 - "$item" "$scratch/got" <<'PYTHON'
import json, sys
sent, got = json.loads(sys.argv[1]), json.load(open(sys.argv[2]))["Item"]
sys.exit(0 if sent == got else f"sent {sent} got {got}")
PYTHON
}

batches() {
  ddb batch-write-item --request-items '{"types":[{"PutRequest":{"Item":{"pk":{"B":"AQ=="},"sk":{"N":"1"},"v":{"S":"one"}}}},
    {"PutRequest":{"Item":{"pk":{"B":"AQ=="},"sk":{"N":"2"},"v":{"S":"two"}}}}],"'$jobs'":[{"DeleteRequest":{"Key":{"jobKey":{"S":"absent"}}}}]}' || return
  same "$(text batch-get-item --request-items '{"types":{"Keys":[{"pk":{"B":"AQ=="},"sk":{"N":"1"}},{"pk":{"B":"AQ=="},"sk":{"N":"2"}},
    {"pk":{"B":"AQ=="},"sk":{"N":"3"}}],"ProjectionExpression":"v"}}' --query 'sort(Responses.types[].v.S)')" "one	two"
}

updates() {
  local key='{"pk":{"B":"AQ=="},"sk":{"N":"1"}}'
  same "$(text update-item --table-name types --key "$key" --update-expression 'SET l = list_append(if_not_exists(l, :none), :more), m.x = :v ADD n :n REMOVE v' \
    --expression-attribute-values '{":none":{"L":[]},":more":{"L":[{"S":"x"}]},":v":{"S":"y"},":n":{"N":"3"}}' 2>&1 | grep -c 'document path provided in the update expression is invalid')" 1 || return
  same "$(text update-item --table-name types --key "$key" --update-expression 'SET l = list_append(if_not_exists(l, :none), :more) ADD n :n REMOVE v' \
    --expression-attribute-values '{":none":{"L":[]},":more":{"L":[{"S":"x"}]},":n":{"N":"3"}}' --return-values ALL_NEW \
    --query 'Attributes.[n.N, l.L[0].S, v.S]')" "3	x	None" || return
  same "$(text delete-item --table-name types --key "$key" --return-values ALL_OLD --condition-expression 'n > :two' \
    --expression-attribute-values '{":two":{"N":"2"}}' --query Attributes.n.N)" 3
}

lifecycle() {
  same "$(text list-tables --query TableNames --page-size 1 | xargs)" "$jobs $tickets types" || return
  refused ResourceInUseException types create-table --table-name types --attribute-definitions AttributeName=pk,AttributeType=S \
    --key-schema AttributeName=pk,KeyType=HASH --billing-mode PAY_PER_REQUEST || return
  local arn
  arn=$(text describe-table --table-name types --query Table.TableArn) || return
  ddb tag-resource --resource-arn "$arn" --tags Key=owner,Value=tickets && ddb untag-resource --resource-arn "$arn" --tag-keys env || return
  same "$(text list-tags-of-resource --resource-arn "$arn" --query 'Tags[].[Key, Value]')" "owner	tickets" || return
  ddb update-table --table-name types --provisioned-throughput ReadCapacityUnits=6,WriteCapacityUnits=5 && ddb wait table-exists --table-name types || return
  same "$(text describe-table --table-name types --query Table.ProvisionedThroughput.ReadCapacityUnits)" 6 || return
  ddb delete-table --table-name types && ddb wait table-not-exists --table-name types || return
  refused ResourceNotFoundException 'Requested resource not found: Table: types not found' describe-table --table-name types
}

# The CLI follows LastEvaluatedKey by itself; --page-size is what it sends as Limit.
pages() {
  local seat value='{":u":{"S":"user-1"}}'
  for seat in 1 2 3 4 5 6 7; do
    ddb put-item --table-name $jobs --item '{"jobKey":{"S":"page-'$seat'"},"n":{"N":"'$seat'"}}' || return
  done
  same "$(text query --table-name $tickets --consistent-read --key-condition-expression 'userId = :u' --expression-attribute-values "$value" \
    --no-scan-index-forward --page-size 1 --query 'Items[].ticketId.S' | xargs)" "booking-7:3 booking-7:2 booking-7:1" || return
  same "$(text query --table-name $tickets --key-condition-expression 'userId = :u AND ticketId > :t' --select COUNT \
    --expression-attribute-values "${value%\}},"'":t":{"S":"booking-7:1"}}' --query '[Count, ScannedCount]')" "2	2" || return
  same "$(text scan --table-name $jobs --page-size 2 --filter-expression 'n > :n' --expression-attribute-values '{":n":{"N":"4"}}' \
    --query 'Items[].n.N' | tr '\t' '\n' | sort | xargs)" "5 6 7"
}

event() {
  local of=(query --table-name $tickets --index-name by-event-date --key-condition-expression 'eventDate = :d'
    --expression-attribute-values '{":d":{"S":"2026-12-01"}}')
  eventually "booking-7:1 booking-7:2 booking-7:3" text "${of[@]}" --page-size 2 --query 'Items[].ticketId.S' || return
  same "$(text "${of[@]}" --no-scan-index-forward --limit 1 --return-consumed-capacity INDEXES \
    --query '[Items[0].ticketId.S, ConsumedCapacity.Table.CapacityUnits, ConsumedCapacity.GlobalSecondaryIndexes."by-event-date".CapacityUnits]')" \
    "booking-7:3	0	0.5" || return
  refused ValidationException 'Consistent reads are not supported on global secondary indexes' "${of[@]}" --consistent-read
}

# Northwind: the raw status as an index, then one by customer and a sparse one of days and shards.
northwind() {
  local number items day shard
  ddb create-table --table-name orders --billing-mode PAY_PER_REQUEST --key-schema AttributeName=pk,KeyType=HASH \
    --attribute-definitions AttributeName={pk,status,customer,statusDay,made},AttributeType=S \
    --global-secondary-indexes '[{"IndexName":"status","KeySchema":[{"AttributeName":"status","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}},
      {"IndexName":"by-customer","KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"made","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
      {"IndexName":"pending","KeySchema":[{"AttributeName":"statusDay","KeyType":"HASH"},{"AttributeName":"made","KeyType":"RANGE"}],
       "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total"]}}]' && ddb wait table-exists --table-name orders || return
  items=
  for number in 10 11 12 13 14 15 16 17 18 19 20 21; do
    day=2025-06-01; [ $((number % 4)) -ne 0 ] || day=2025-05-31
    items+=',{"PutRequest":{"Item":{"pk":{"S":"ORDER#'$number'"},"status":{"S":"PENDING"},"customer":{"S":"CUSTOMER#'$((number % 3))'"},"total":{"N":"'$number'"},
      "made":{"S":"'${day}'T00:'$number':00Z#'$number'"},"statusDay":{"S":"STATUS#PENDING#'$day#$((number % 10))'"},"notes":{"S":"long"}}}}'
  done
  ddb batch-write-item --request-items '{"orders":['"${items#,}"']}' || return
  eventually "5 5 2" text query --table-name orders --index-name status --key-condition-expression '#s = :s' --expression-attribute-names '{"#s":"status"}' \
    --expression-attribute-values '{":s":{"S":"PENDING"}}' --page-size 5 --select COUNT --query Count || return
  eventually "ORDER#19 ORDER#13 ORDER#10 ORDER#16" text query --table-name orders --index-name by-customer --key-condition-expression 'customer = :c' \
    --expression-attribute-values '{":c":{"S":"CUSTOMER#1"}}' --no-scan-index-forward --query 'Items[].pk.S' || return
  pending() {
    { for shard in 0 1 2 3 4 5 6 7 8 9; do
      text query --table-name orders --index-name pending --key-condition-expression 'statusDay = :d' \
        --expression-attribute-values '{":d":{"S":"STATUS#PENDING#2025-06-01#'$shard'"}}' --query 'Items[].[made.S, total.N, notes.S]' &
    done; wait; } | sort | cut -f2-
  }
  eventually "10 None 11 None 13 None 14 None 15 None 17 None 18 None 19 None 21 None" pending || return
  ddb update-item --table-name orders --key '{"pk":{"S":"ORDER#10"}}' --update-expression 'REMOVE statusDay' || return
  eventually "11 None 13 None 14 None 15 None 17 None 18 None 19 None 21 None" pending || return
  refused ValidationException 'Global secondary index pending does not project [notes]' query --table-name orders --index-name pending \
    --key-condition-expression 'statusDay = :d' --expression-attribute-values '{":d":{"S":"x"}}' --projection-expression notes || return
  ddb delete-table --table-name orders
}

errors() {
  refused ResourceNotFoundException 'Requested resource not found' get-item --table-name absent --key '{"pk":{"S":"a"}}' || return
  refused ValidationException 'The provided key element does not match the schema' get-item --table-name $jobs --key '{"wrong":{"S":"a"}}' || return
  refused ValidationException 'Syntax error; token: "!"' put-item --table-name $jobs --item '{"jobKey":{"S":"a"}}' --condition-expression '!!' || return
  text describe-limits --query TableMaxReadCapacityUnits && text describe-endpoints --query 'Endpoints[0].Address'
}

check "minitickets: both tables are created and described as asked" tables
check "minitickets: one winner a seat under a race; every loser strongly reads the winner's token" race
check "minitickets: marking ready needs the stored token; a wrong one is refused and changes nothing" ready
check "minitickets: an email's completion is recorded once" completion
check "items: every type, binary keys and 38 digits come back as they went" types
check "batches: write and read over two tables" batches
check "updates: functions, ADD, REMOVE, return values, a conditional delete" updates
check "tables: list in pages, tags, throughput, delete, wait" lifecycle
check "queries and scans: the CLI's own pages, both directions, count, filter" pages
check "minitickets: the event's tickets through the by-event-date index; a strong read of it is refused" event
check "northwind: by status, by customer newest first, and today's pending orders from ten shards of a sparse index" northwind
check "errors: named as AWS names them; limits and endpoints are described" errors
exit $((failures > 0))
