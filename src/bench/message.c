/* The requests that the load sends: as an SDK sends them, signed anew each time. */
#include "bench/bench_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

enum { NUMBER_LEAST = 10000000, NUMBER_SIZE = 5 };

void bench_writer_open(struct bench_writer *writer, struct world *world, const struct bench_options *options, const char *host)
{
    *writer = (struct bench_writer){.options = options, .host = host, .world = world, .cache = auth_cache_new(world)};
    call_open(&writer->call, world, NULL);
    /* An item's size counts names and values: p and its key, n and its number, v and the rest. */
    size_t others = 1 + 4 + BENCH_KEY_DIGITS + 1 + NUMBER_SIZE + 1;
    size_t filler = options->item_bytes > others ? options->item_bytes - others : 1;
    char *text = malloc(filler);
    assert(text);
    for (size_t at = 0; at < filler; at++)
        text[at] = (char)('a' + at * 7 % 26);
    writer->filler = str_of(text, filler);
}

void bench_writer_close(struct bench_writer *writer)
{
    call_close(&writer->call);
    auth_cache_free(writer->cache);
    free((void *)(uintptr_t)writer->filler.data);
}

static str timestamp(struct bench_writer *writer)
{
    int64_t now_us = world_wall_us(writer->world);
    if (now_us >= writer->timestamp_until_us) {
        time_t now = (time_t)(now_us / 1000000);
        struct tm parts;
        gmtime_r(&now, &parts);
        strftime(writer->timestamp, sizeof writer->timestamp, "%Y%m%dT%H%M%SZ", &parts);
        writer->timestamp_until_us = ((int64_t)now + 1) * 1000000;
    }
    return str_of(writer->timestamp, sizeof writer->timestamp - 1);
}

str bench_message(struct bench_writer *writer, const char *target, str body)
{
    const struct bench_options *options = writer->options;
    struct arena *arena = &writer->call.arena;
    str stamp = timestamp(writer);
    struct auth_header headers[] = {{STR("Host"), str_of_text(writer->host)},
                                    {STR("X-Amz-Target"), arena_printf(arena, "DynamoDB_20120810.%s", target)},
                                    {STR("Content-Type"), STR("application/x-amz-json-1.0")},
                                    {STR("X-Amz-Date"), stamp}};
    enum { HEADERS = sizeof headers / sizeof headers[0] };
    struct auth_request request = {STR("POST"), STR("/"), STR_NONE, headers, HEADERS, body};
    struct auth_key key = {.access_key = str_of_text(options->access_key), .secret = str_of_text(options->secret)};
    struct buf out;
    buf_open(&out, arena, 1024 + body.len);
    BUF_ADD_LITERAL(&out, "POST / HTTP/1.1\r\n");
    for (size_t i = 0; i < HEADERS; i++) {
        buf_add_str(&out, headers[i].name);
        BUF_ADD_LITERAL(&out, ": ");
        buf_add_str(&out, headers[i].value);
        BUF_ADD_LITERAL(&out, "\r\n");
    }
    if (options->sign) {
        BUF_ADD_LITERAL(&out, "Authorization: ");
        auth_sign(&writer->call, &request, &key, str_of_text(options->region), stamp, writer->cache, &out);
        BUF_ADD_LITERAL(&out, "\r\n");
    }
    buf_printf(&out, "Content-Length: %zu\r\n\r\n", body.len);
    buf_add_str(&out, body);
    return buf_str(&out);
}

static str put_body(struct bench_writer *writer, uint64_t key)
{
    /* No two writes of a key are equal, or a server might find that there is nothing to write. */
    unsigned long long number = NUMBER_LEAST + writer->writes++ % NUMBER_LEAST;
    return arena_printf(&writer->call.arena, "{\"TableName\":\"%s\",\"Item\":{\"p\":{\"S\":\"key-%08llu\"},\"n\":{\"N\":\"%llu\"},\"v\":{\"S\":\"%.*s\"}}}",
                        writer->options->table, (unsigned long long)key, number, STR_ARG(writer->filler));
}

str bench_operation(struct bench_writer *writer, enum bench_op op, uint64_t key)
{
    struct arena *arena = &writer->call.arena;
    const char *table = writer->options->table;
    unsigned long long number = key;
    arena_reset(arena);
    switch (op) {
    case BENCH_GET:
        return bench_message(writer, "GetItem", arena_printf(arena, "{\"TableName\":\"%s\",\"Key\":{\"p\":{\"S\":\"key-%08llu\"}}}", table, number));
    case BENCH_PUT:
        return bench_message(writer, "PutItem", put_body(writer, key));
    case BENCH_QUERY: /* of one item: what a Query costs over a GetItem */
        return bench_message(writer, "Query", arena_printf(arena, "{\"TableName\":\"%s\",\"KeyConditionExpression\":\"p = :p\","
                                                                  "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"key-%08llu\"}}}", table, number));
    case BENCH_SCAN: /* the page behind some key */
        return bench_message(writer, "Scan", arena_printf(arena, "{\"TableName\":\"%s\",\"ExclusiveStartKey\":{\"p\":{\"S\":\"key-%08llu\"}}}", table, number));
    case BENCH_UPDATE:
        break;
    }
    return bench_message(writer, "UpdateItem",
                         arena_printf(arena, "{\"TableName\":\"%s\",\"Key\":{\"p\":{\"S\":\"key-%08llu\"}},\"UpdateExpression\":\"SET n = n + :one\","
                                             "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}", table, number));
}

str bench_create_table(struct bench_writer *writer)
{
    arena_reset(&writer->call.arena);
    return bench_message(writer, "CreateTable",
                         arena_printf(&writer->call.arena, "{\"TableName\":\"%s\",\"AttributeDefinitions\":[{\"AttributeName\":\"p\",\"AttributeType\":\"S\"}],"
                                                           "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"}],\"BillingMode\":\"PAY_PER_REQUEST\"}",
                                      writer->options->table));
}

str bench_answer_body(struct arena *arena, unsigned item_bytes)
{
    struct buf out;
    buf_open(&out, arena, item_bytes + 128);
    BUF_ADD_LITERAL(&out, "{\"Item\":{\"p\":{\"S\":\"key-00000000\"},\"n\":{\"N\":\"10000000\"},\"v\":{\"S\":\"");
    for (unsigned at = 0; at + 20 < item_bytes; at++)
        buf_add_byte(&out, (uint8_t)('a' + at * 7 % 26));
    BUF_ADD_LITERAL(&out, "\"}}}");
    return buf_str(&out);
}
