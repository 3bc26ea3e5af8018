/* Bodies packed with gzip or deflate, both ways, and the choice between them (reference wire.md section 6). */
#include "api/api_internal.h"

#include <assert.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, ZLIB_WINDOW = 15, PACKED_GROWTH_FIRST = 4, COMPRESS_ROOM_FIRST = 1024 };

enum api_encoding api_encoding_of(str content_encoding)
{
    str name = str_trim(content_encoding);
    if (name.len == 0 || str_equal_folded(name, STR("identity")))
        return ENCODING_NONE;
    if (str_equal_folded(name, STR("gzip")))
        return ENCODING_GZIP;
    return str_equal_folded(name, STR("deflate")) ? ENCODING_DEFLATE : ENCODING_UNKNOWN;
}

/* zlib's state lives in the call's arena: it ends with it, whatever happens in between. */
static void *zlib_alloc(void *arena, unsigned count, unsigned size)
{
    return arena_alloc((struct arena *)arena, (size_t)count * size);
}

static void zlib_free(void *arena, void *at)
{
    (void)arena;
    (void)at;
}

/* Twice the room; what is outgrown is given back. False when the budget has none: a few packed bytes may stand for a thousand times as many. */
static bool grow(struct buf *out)
{
    enum { LARGE_BYTES = 1 << 20 };
    size_t capacity = 2 * out->capacity + COMPRESS_ROOM_FIRST;
    char *data = arena_alloc_text(out->arena, capacity);
    if (capacity > LARGE_BYTES && out->arena->budget && !memory_budget_has(out->arena->budget, 0)) {
        arena_give_back(out->arena, data);
        return false;
    }
    if (out->len > 0)
        memcpy(data, out->data, out->len);
    arena_give_back(out->arena, out->data);
    out->data = data;
    out->capacity = capacity;
    return true;
}

/* One stream after another until the input ends; each must end properly. */
static bool inflate_all(z_stream *stream, struct buf *out, size_t bytes_max, bool many, bool *has_no_room)
{
    for (;;) {
        if (out->len == bytes_max + 1)
            return false;
        if (out->capacity == out->len && !grow(out)) {
            *has_no_room = true;
            return false;
        }
        size_t room = out->capacity - out->len;
        if (room > bytes_max + 1 - out->len)
            room = bytes_max + 1 - out->len;
        stream->next_out = (Bytef *)out->data + out->len;
        stream->avail_out = (uInt)room;
        int result = inflate(stream, Z_NO_FLUSH);
        out->len += room - stream->avail_out;
        if (result == Z_STREAM_END) {
            if (stream->avail_in == 0)
                return out->len <= bytes_max;
            if (!many || inflateReset(stream) != Z_OK)
                return false;
        } else if (result != Z_OK) {
            return false;
        } else if (stream->avail_in == 0 && stream->avail_out > 0) {
            return false; /* cut short */
        }
    }
}

bool api_inflate(struct arena *arena, str packed, enum api_encoding encoding, size_t bytes_max, str *unpacked, bool *has_no_room)
{
    *has_no_room = false;
    assert(encoding == ENCODING_GZIP || encoding == ENCODING_DEFLATE);
    if (packed.len == 0 || packed.len > UINT32_MAX)
        return false;
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena, .next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.len};
    if (inflateInit2(&stream, encoding == ENCODING_GZIP ? GZIP_WINDOW : ZLIB_WINDOW) != Z_OK)
        return false;
    struct buf out;
    size_t expected = packed.len * PACKED_GROWTH_FIRST;
    buf_open(&out, arena, expected < bytes_max ? expected : bytes_max);
    bool whole = inflate_all(&stream, &out, bytes_max, encoding == ENCODING_GZIP, has_no_room);
    inflateEnd(&stream);
    *unpacked = buf_str(&out);
    return whole;
}

str api_deflate(struct arena *arena, str body, enum api_encoding encoding)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena, .next_in = (Bytef *)(uintptr_t)body.data, .avail_in = (uInt)body.len};
    int opened = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, encoding == ENCODING_GZIP ? GZIP_WINDOW : ZLIB_WINDOW, 8, Z_DEFAULT_STRATEGY);
    assert(opened == Z_OK);
    size_t bound = deflateBound(&stream, (uLong)body.len);
    char *packed = arena_alloc_text(arena, bound);
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)bound;
    int ended = deflate(&stream, Z_FINISH);
    assert(ended == Z_STREAM_END);
    str result = str_of(packed, stream.total_out);
    deflateEnd(&stream);
    return result;
}

/* A quality in thousandths as DynamoDB takes it: above 1 counts as 1, what cannot be read counts as 1, a negative one as 0; but never
   0 for a number above 0. */
static unsigned read_quality(str text)
{
    text = str_trim(text);
    bool negative = text.len > 0 && text.data[0] == '-';
    str rest = negative ? str_from(text, 1) : text;
    unsigned thousandths = 0, unit = 100;
    bool above_zero = false, seen_digit = false, behind_point = false;
    for (size_t at = 0; at < rest.len; at++) {
        char byte = rest.data[at];
        if (byte == '.' && !behind_point) {
            behind_point = true;
            continue;
        }
        if (byte < '0' || byte > '9')
            return 1000;
        unsigned digit = (unsigned)(byte - '0');
        seen_digit = true;
        above_zero = above_zero || digit > 0;
        if (behind_point) {
            thousandths += digit * unit;
            unit /= 10;
        } else {
            thousandths = thousandths > 1000 ? thousandths : thousandths * 10 + digit * 1000;
        }
    }
    if (!seen_digit)
        return 1000;
    if (negative)
        return 0;
    if (above_zero && thousandths == 0)
        return 1;
    return thousandths > 1000 ? 1000 : thousandths;
}

/* What stands behind the first "q=", or 1. DynamoDB looks for no more than these two bytes: "nq=0" counts, "q =0" does not. */
static unsigned entry_quality(str parameters)
{
    for (size_t at = 0; at + 1 < parameters.len; at++) {
        if ((parameters.data[at] | 0x20) == 'q' && parameters.data[at + 1] == '=') {
            str value = str_from(parameters, at + 2);
            return read_quality(str_cut(&value, ';'));
        }
    }
    return 1000;
}

static enum api_encoding entry_encoding(str name)
{
    if (str_equal_folded(name, STR("gzip")))
        return ENCODING_GZIP;
    return str_equal_folded(name, STR("deflate")) ? ENCODING_DEFLATE : ENCODING_UNKNOWN;
}

/* The qualities that a list gives; 0: none. */
struct wishes {
    unsigned gzip, deflate, star;
    bool gzip_listed, deflate_listed;
    bool deflate_first;
};

/* Of several entries of one name the first counts that does not exclude it. */
static struct wishes read_wishes(str accept_encoding)
{
    struct wishes wishes = {0};
    for (str rest = accept_encoding; rest.len > 0;) {
        str entry = str_cut(&rest, ',');
        str name = str_trim(str_cut(&entry, ';'));
        unsigned quality = entry_quality(entry);
        enum api_encoding encoding = entry_encoding(name);
        if (encoding == ENCODING_GZIP) {
            wishes.gzip_listed = true;
            wishes.gzip = wishes.gzip ? wishes.gzip : quality;
        } else if (encoding == ENCODING_DEFLATE) {
            wishes.deflate_first = wishes.deflate_first || (quality > 0 && !wishes.gzip);
            wishes.deflate_listed = true;
            wishes.deflate = wishes.deflate ? wishes.deflate : quality;
        } else if (str_equal(name, STR("*"))) {
            wishes.star = wishes.star ? wishes.star : quality;
        }
    }
    return wishes;
}

enum api_encoding api_encoding_choose(str accept_encoding)
{
    struct wishes wishes = read_wishes(accept_encoding);
    bool gzip_by_star = !wishes.gzip_listed;
    bool deflate_by_star = wishes.gzip_listed && !wishes.deflate_listed;
    if (gzip_by_star)
        wishes.gzip = wishes.star;
    if (deflate_by_star)
        wishes.deflate = wishes.star;
    if (wishes.gzip == 0 && wishes.deflate == 0)
        return ENCODING_NONE;
    /* Between equals: what was listed before what a star stands for, then the order of the list. */
    if (wishes.gzip == wishes.deflate) {
        bool deflate_wins = gzip_by_star || (!deflate_by_star && wishes.deflate_first);
        return deflate_wins ? ENCODING_DEFLATE : ENCODING_GZIP;
    }
    return wishes.gzip > wishes.deflate ? ENCODING_GZIP : ENCODING_DEFLATE;
}
