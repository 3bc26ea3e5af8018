/* The stored form's header. */
#include "model/stored.h"

#include "base/bytes.h"

void stored_write(struct buf *out, const struct stored *stored)
{
    buf_reserve(out, STORED_HEADER_BYTES + stored->item.len);
    buf_add_byte(out, STORED_VERSION);
    buf_add_u64(out, stored->stamp);
    buf_add_u32(out, stored->size);
    buf_add_str(out, stored->item);
}

bool stored_read(str bytes, struct stored *out)
{
    if (bytes.len < STORED_HEADER_BYTES || bytes.data[0] != STORED_VERSION)
        return false;
    out->stamp = bytes_get_u64(bytes.data + 1);
    out->size = bytes_get_u32(bytes.data + 9);
    out->item = str_from(bytes, STORED_HEADER_BYTES);
    return true;
}
