/* The meta rows of a range: who owns it, what it counts, who reads its log; and how large its item collections are. */
#include "part/part_internal.h"

#include <assert.h>

void epoch_write(const struct epoch *epoch, uint8_t bytes[EPOCH_BYTES])
{
    bytes[0] = META_VERSION;
    bytes_put_u64(bytes + 1, epoch->counter);
    memcpy(bytes + 9, epoch->owner.bytes, sizeof epoch->owner.bytes);
}

bool epoch_read(str bytes, struct epoch *out)
{
    if (bytes.len != EPOCH_BYTES || bytes.data[0] != META_VERSION)
        return false;
    out->counter = bytes_get_u64(bytes.data + 1);
    memcpy(out->owner.bytes, bytes.data + 9, sizeof out->owner.bytes);
    return true;
}

void counts_write(const struct counts *counts, struct buf *out)
{
    buf_add_byte(out, META_VERSION);
    buf_add_varint(out, counts->group_number);
    buf_add_varint(out, counts->visible.items);
    buf_add_varint(out, counts->visible.bytes);
    buf_add_varint(out, counts->visible.last_stamp);
    buf_add_varint(out, counts->visible.highest_deleted_stamp);
}

static bool take_version(str *bytes)
{
    str version;
    return str_take(bytes, 1, &version) && version.data[0] == META_VERSION;
}

bool counts_read(str bytes, struct counts *out)
{
    return take_version(&bytes) && varint_take(&bytes, &out->group_number) && varint_take(&bytes, &out->visible.items) &&
           varint_take(&bytes, &out->visible.bytes) && varint_take(&bytes, &out->visible.last_stamp) &&
           varint_take(&bytes, &out->visible.highest_deleted_stamp) && bytes.len == 0;
}

void consumers_write(const struct consumers *consumers, struct buf *out)
{
    buf_add_byte(out, META_VERSION);
    buf_add_varint(out, consumers->trimmed_to);
    buf_add_varint(out, consumers->count);
    for (size_t i = 0; i < consumers->count; i++) {
        const struct consumer *consumer = &consumers->of[i];
        buf_add_counted(out, str_of(consumer->name, consumer->name_bytes));
        buf_add_varint(out, consumer->images);
        buf_add_varint(out, consumer->position);
    }
}

bool consumers_read(str bytes, struct consumers *out)
{
    uint64_t count, images;
    if (!take_version(&bytes) || !varint_take(&bytes, &out->trimmed_to) || !varint_take(&bytes, &count) || count > CONSUMERS_MAX)
        return false;
    out->count = (size_t)count;
    for (size_t i = 0; i < out->count; i++) {
        struct consumer *consumer = &out->of[i];
        str name;
        if (!str_take_counted(&bytes, &name) || name.len > CONSUMER_NAME_MAX || !varint_take(&bytes, &images) || !varint_take(&bytes, &consumer->position))
            return false;
        memcpy(consumer->name, name.data, name.len);
        consumer->name_bytes = name.len;
        consumer->images = (unsigned)images;
    }
    return bytes.len == 0;
}

void collection_write(uint64_t bytes, struct buf *out)
{
    buf_add_byte(out, META_VERSION);
    buf_add_varint(out, bytes);
}

bool collection_read(str bytes, uint64_t *out)
{
    return take_version(&bytes) && varint_take(&bytes, out) && bytes.len == 0;
}
