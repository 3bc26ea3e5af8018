/* Times as signatures have them: ISO 8601's basic format in UTC. */
#include "auth/auth_internal.h"

enum { DAY_SECONDS = 86400 };

struct moment {
    int64_t year, month, day, hour, minute, second;
};

/* Days from 1970-01-01 in the Gregorian calendar; years count from March, so that the leap day is a year's last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static bool moment_is_real(const struct moment *m)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (m->year % 4 == 0 && m->year % 100 != 0) || m->year % 400 == 0;
    if (m->year < 1 || m->month < 1 || m->month > 12 || m->day < 1)
        return false;
    return m->day <= days[m->month - 1] + (leap && m->month == 2) && m->hour < 24 && m->minute < 60 && m->second <= 60;
}

static bool take_number(str *rest, size_t digits, int64_t *number)
{
    if (rest->len < digits)
        return false;
    *number = 0;
    for (size_t at = 0; at < digits; at++) {
        if (rest->data[at] < '0' || rest->data[at] > '9')
            return false;
        *number = *number * 10 + (rest->data[at] - '0');
    }
    *rest = str_from(*rest, digits);
    return true;
}

static bool take_text(str *rest, str text)
{
    if (!str_begins(*rest, text))
        return false;
    *rest = str_from(*rest, text.len);
    return true;
}

static bool read_basic(str text, struct moment *m)
{
    return take_number(&text, 4, &m->year) && take_number(&text, 2, &m->month) && take_number(&text, 2, &m->day) && take_text(&text, STR("T")) &&
           take_number(&text, 2, &m->hour) && take_number(&text, 2, &m->minute) && take_number(&text, 2, &m->second) && take_text(&text, STR("Z")) &&
           text.len == 0;
}

/* "Fri, 24 May 2013 00:00:00 GMT" */
static bool read_http(str text, struct moment *m)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    str_cut(&text, ',');
    if (!take_text(&text, STR(" ")) || !take_number(&text, 2, &m->day) || !take_text(&text, STR(" ")) || text.len < 3)
        return false;
    m->month = 0;
    for (size_t at = 0; at + 3 < sizeof months; at += 3)
        if (memcmp(months + at, text.data, 3) == 0)
            m->month = (int64_t)(at / 3 + 1);
    text = str_from(text, 3);
    return take_text(&text, STR(" ")) && take_number(&text, 4, &m->year) && take_text(&text, STR(" ")) && take_number(&text, 2, &m->hour) &&
           take_text(&text, STR(":")) && take_number(&text, 2, &m->minute) && take_text(&text, STR(":")) && take_number(&text, 2, &m->second) &&
           take_text(&text, STR(" GMT")) && text.len == 0;
}

bool auth_time_read(str text, int64_t *time_us, char timestamp[AUTH_TIMESTAMP_BYTES])
{
    struct moment m;
    if ((!read_basic(text, &m) && !read_http(text, &m)) || !moment_is_real(&m))
        return false;
    *time_us = (days_of(m.year, m.month, m.day) * DAY_SECONDS + m.hour * 3600 + m.minute * 60 + m.second) * 1000000;
    auth_time_write(*time_us, timestamp);
    return true;
}

static void put_number(char *at, size_t digits, int64_t number)
{
    for (size_t place = digits; place-- > 0; number /= 10)
        at[place] = (char)('0' + number % 10);
}

void auth_time_write(int64_t time_us, char timestamp[AUTH_TIMESTAMP_BYTES])
{
    int64_t seconds = time_us / 1000000;
    int64_t days = seconds / DAY_SECONDS, second = seconds % DAY_SECONDS;
    int64_t shifted = days + 719468, era = shifted / 146097, day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    put_number(timestamp, 4, year_of_era + era * 400 + (month <= 2));
    put_number(timestamp + 4, 2, month);
    put_number(timestamp + 6, 2, day_of_year - (153 * shifted_month + 2) / 5 + 1);
    timestamp[8] = 'T';
    put_number(timestamp + 9, 2, second / 3600);
    put_number(timestamp + 11, 2, second / 60 % 60);
    put_number(timestamp + 13, 2, second % 60);
    timestamp[15] = 'Z';
}
