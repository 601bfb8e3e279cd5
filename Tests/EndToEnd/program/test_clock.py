"""A wall clock that is set while the exporter runs."""

import os
import struct

import pytest

from support import metrics
from support.commands import preload
from support.load import Load

#: clock_gettime(2) with a wall clock that is ahead by the number of seconds in a file.
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile long *ahead;

__attribute__((constructor)) static void open_file(void) {
    ahead = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, open(getenv("CLOCK_AHEAD"), O_RDONLY), 0);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME && ahead) time->tv_sec += *ahead;
    return result;
}
"""


@pytest.fixture
def clock(tmp_path):
    """The environment of a program whose clock can be set, and a method that sets it."""
    file = tmp_path / "ahead"

    class Clock:
        # AddressSanitizer would otherwise insist on being loaded first.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        environment = {"CLOCK_AHEAD": str(file), "ASAN_OPTIONS": asan} | preload(tmp_path, LIBRARY)

        def set(self, seconds: int) -> None:
            with file.open("r+b" if file.exists() else "wb") as stream:
                stream.write(struct.pack("l", seconds))

    clock = Clock()
    clock.set(0)
    return clock


@pytest.mark.parametrize("step", [3600, -3600])
def test_setting_the_clock_expires_no_city_that_still_has_readings(start, python_feed, clock, step):
    flags = ("--city.expire-after=4s",)
    exporter = start.reader(python_feed, *flags, environment=clock.environment)
    python_feed.send([{"city": "Pune", "aqi": 7}, {"city": "Silent", "aqi": 8}])
    exporter.wait_for_sample(metrics.INDEX, 8, city="Silent")
    with Load(python_feed, lambda _: [{"city": "Pune", "aqi": 7}], pause=0.2):
        clock.set(step)
        exporter.wait_for_line('level=INFO msg="Clock was set"')
        expired = "airquality_exporter_cities_expired_total"
        exporter.wait_for_sample(expired, at_least=1)
        assert exporter.scrape().value(expired) == 1
        assert exporter.scrape().by(metrics.INDEX, "city") == {"Pune": 7}
