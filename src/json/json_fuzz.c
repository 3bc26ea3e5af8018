/* Fuzzes the JSON reader: what it takes has consistent tokens, and comes back when it is written. Also base64. */
#include "json/json.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the token's value and returns the first token behind it. */
static uint32_t write_token(struct buf *out, const struct json *json, uint32_t token)
{
    const struct json_token *read = &json->tokens[token];
    bool is_object = read->type == JSON_OBJECT;
    uint32_t entries = 0;
    assert(read->next > token && read->next <= json->token_count);
    assert(read->start + (size_t)read->length <= json->text.len);
    if (read->type == JSON_STRING) {
        json_write_string(out, json_string(json, token));
    } else if (is_object || read->type == JSON_ARRAY) {
        buf_add_byte(out, is_object ? '{' : '[');
        for (uint32_t at = json_first(json, token); at < json_end(json, token); entries++) {
            json_write_comma(out);
            if (is_object) {
                at = write_token(out, json, at);
                buf_add_byte(out, ':');
            }
            at = write_token(out, json, at);
        }
        assert(entries == read->count);
        buf_add_byte(out, is_object ? '}' : ']');
    } else {
        buf_add_str(out, json_raw(json, token));
    }
    return read->next;
}

static void check_base64(struct arena *arena, str text)
{
    struct buf bytes, back;
    buf_open(&bytes, arena, 0);
    bool valid = base64_is_valid(text);
    assert(base64_decode(text, &bytes) == valid);
    if (!valid)
        return;
    buf_open(&back, arena, 0);
    json_write_base64(&back, buf_str(&bytes));
    assert(str_equal(str_of(back.data + 1, back.len - 2), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct json json, again;
    struct buf out, second;
    arena_open(&arena, NULL);
    str text = str_of(data, size);
    check_base64(&arena, text);
    if (json_parse(&arena, text, &json)) {
        assert(utf8_is_valid(text));
        buf_open(&out, &arena, size);
        assert(write_token(&out, &json, 0) == json.token_count);
        json_member(&json, 0, STR("a"));
        assert(json_parse(&arena, buf_str(&out), &again));
        assert(again.token_count == json.token_count);
        buf_open(&second, &arena, size);
        write_token(&second, &again, 0);
        assert(str_equal(buf_str(&out), buf_str(&second)));
    }
    arena_close(&arena);
    return 0;
}
