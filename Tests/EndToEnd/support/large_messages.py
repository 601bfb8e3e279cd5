"""The largest messages that a feed may send, and feeds that send them at once."""

import threading

from support.memory import MIB

LIMIT = 4 * MIB

# Of the largest allowed size. Numbers take the most memory for their length, objects the most time.
NUMBERS = "[" + ",".join(["1"] * (LIMIT // 2 - 1)) + "]"
OBJECTS = "[" + ",".join(["{}"] * (LIMIT // 3 - 1)) + "]"


def start_exporter(start, feeds, *flags: str, **options):
    urls = [flag for feed in feeds for flag in ("--feed.url", feed.url)]
    flags = ("--feed.max-message-bytes", str(LIMIT), "--feed.ping-interval", "0", *flags)
    exporter = start.exporter(*urls, *flags, **options)
    for feed in feeds:
        feed.wait_for_client()
    return exporter


def send_at_once(feeds, *messages):
    """Sends each feed its message, or all the same one."""
    threads = [
        threading.Thread(target=feed.send, args=(messages[number % len(messages)],))
        for number, feed in enumerate(feeds)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
