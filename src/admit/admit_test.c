/* Tests of what requests cost: figures of reference capacity.md sections 1 and 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "admit/admit.h"

static void reads_are_counted_by_4_kilobytes(void **state)
{
    (void)state;
    assert_int_equal(admit_read_units(0, READ_EVENTUAL), 1);
    assert_int_equal(admit_read_units(0, READ_STRONG), 2);
    assert_int_equal(admit_read_units(0, READ_TRANSACTIONAL), 4);
    assert_int_equal(admit_read_units(1, READ_STRONG), 2);
    assert_int_equal(admit_read_units(4096, READ_STRONG), 2);
    assert_int_equal(admit_read_units(4097, READ_STRONG), 4);
    assert_int_equal(admit_read_units(4097, READ_EVENTUAL), 2);
    assert_int_equal(admit_read_units(409600, READ_STRONG), 200);
}

static void writes_are_counted_by_the_larger_image(void **state)
{
    (void)state;
    assert_int_equal(admit_write_units(0, 0), 2);
    assert_int_equal(admit_write_units(0, 1024), 2);
    assert_int_equal(admit_write_units(0, 1025), 4);
    assert_int_equal(admit_write_units(3000, 10), 6);
    assert_int_equal(admit_write_units(10, 3000), 6);
    assert_int_equal(admit_write_units(409600, 0), 800);
}

static void an_index_charges_only_for_what_it_holds(void **state)
{
    (void)state;
    assert_int_equal(admit_index_write_units(0, 0, true, false), 0);
    assert_int_equal(admit_index_write_units(500, 500, true, false), 0);
    assert_int_equal(admit_index_write_units(0, 1500, false, false), 4);
    assert_int_equal(admit_index_write_units(1500, 0, false, false), 4);
    assert_int_equal(admit_index_write_units(1500, 3000, false, false), 6);
    assert_int_equal(admit_index_write_units(1500, 3000, false, true), 4 + 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_counted_by_4_kilobytes),
        cmocka_unit_test(writes_are_counted_by_the_larger_image),
        cmocka_unit_test(an_index_charges_only_for_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
