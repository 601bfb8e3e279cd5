"""The page while things go wrong: no feed, no events, no script, no exporter."""

import contextlib
import http.server
import re
import threading
import urllib.request

from support.peers import WebSocketFeed
from support.waiting import wait_for

BANNER = "Live data interrupted since"


# Without the button, the exporter would wait for up to half an hour.
SLOW = ("--web.enable-lifecycle", "--feed.reconnect-min=30m", "--feed.reconnect-max=30m")


def test_the_page_reports_the_loss_of_the_feed_and_its_return(start_air, browser):
    air = start_air(*SLOW, cities={"Delhi": 300})
    # As on a screen that nobody can type a password on.
    browser.open(air.address.replace("//", "//user:password@"))
    assert browser.text(".banner") == "" and browser.all(".feed.live")
    air.feed.stop()
    browser.wait_for(".banner", BANNER)
    browser.wait_for(".feed.stale", "Interrupted")
    # The page is public, so it never names the feed's address, whatever is wrong.
    assert "127.0.0.1" not in browser.find("body").text
    assert "127.0.0.1" not in air.exporter.get("/about").body.decode()
    # The last known readings are still shown.
    assert browser.names() == ["Delhi"]
    with WebSocketFeed(air.feed.port) as again:
        browser.find(".retry button").click()
        again.wait_for_client()
        wait_for(lambda: again.clients, "the redial")
        air.feed = again
        air.say(Delhi=333)
        browser.wait_for("li[data-city=Delhi] .index", "333")
        wait_for(lambda: browser.text(".banner") == "", "the banner's end")
        assert browser.all(".feed.live")


def test_the_page_reports_the_loss_of_the_feed_without_script(start_air, browser):
    air = start_air(*SLOW, cities={"Delhi": 300})
    air.feed.stop()
    air.exporter.wait_for_sample("airquality_exporter_feed_connected", 0)
    browser.allow_script(False)
    for path in ("/", "/city/Delhi", "/?kiosk"):
        browser.open(air.address + path)
        banner = browser.find(".banner").text
        assert re.match(BANNER + r" \d\d:\d\d UTC\. The last known readings are shown\.", banner), (
            banner
        )
        assert "Interrupted" in browser.find(".feed.stale").text
        page = browser.driver.page_source
        assert "127.0.0.1" not in page and "/metrics" not in page, (
            "what is for developers is on the page about it"
        )
    browser.open(air.address + "/about")
    assert browser.all("a[href$=metrics]")


def test_the_page_has_no_reconnect_button_unless_lifecycle_requests_are_enabled(start_air, browser):
    air = start_air()
    air.feed.stop()
    air.exporter.wait_for_sample("airquality_exporter_feed_connected", 0)
    browser.open(air.address)
    browser.wait_for(".banner", "Waiting for the first reading.")
    browser.wait_for(".feed.stale", "Waiting")
    assert not browser.all(".retry")
    # There is nothing to search or count.
    assert not browser.all("#search, .summary")
    browser.wait_for("body[data-live]")


def test_the_page_says_why_the_feed_gives_no_readings(start_air, browser):
    air = start_air()
    browser.open(air.address)
    browser.wait_for(".banner", "Connected, no readings yet.")
    air.feed.send([])
    browser.wait_for(".banner", "1 messages without readings")
    air.feed.send([{"town": "Delhi", "aqi": 3}])
    browser.wait_for(".banner", "Rejected: 1 × no_city")
    browser.wait_for(".banner", "town,aqi")
    browser.wait_for(".banner", "air-quality-exporter probe ADDRESS")


def test_an_open_page_reports_that_the_exporter_has_stopped(air, browser):
    browser.open(air.address)
    browser.wait_for("body[data-live]")
    air.exporter.stop()
    browser.wait_for(".banner", BANNER)
    browser.wait_for(".feed.stale", "Interrupted")
    assert browser.names()
    # Only the failed loads themselves are errors, refused or, while it stops, reset; and there are
    # no more of them afterwards.
    browser.open("about:blank")
    assert all(
        "ERR_CONNECTION_" in error or "ERR_INCOMPLETE" in error for error in browser.errors()
    )


def test_an_open_page_follows_an_exporter_that_returns_with_another_scale(start_air, browser):
    def color() -> str:
        return browser.run(
            "return getComputedStyle(document.querySelector('li.city'))"
            ".getPropertyValue('--category')"
        )

    air = start_air(cities={"Delhi": 215})
    browser.open(air.address + "/?kiosk")
    browser.wait_for("body[data-live]")
    poor = color()
    air.exporter.stop()
    again = start_air("--aqi.scale=us", listen=air.exporter.address)
    again.say(Delhi=215)
    browser.wait_for("li.city .word", "Very Unhealthy")
    wait_for(lambda: color() != poor, "the colour of the other scale")
    found = color()
    browser.open(air.address + "/?kiosk")
    assert color() == found
    # Only the loads that failed meanwhile are errors.
    errors = browser.errors()
    assert all("net::ERR_" in error for error in errors), errors


def test_the_page_of_an_expired_city_says_that_it_has_no_readings(start_air, browser):
    air = start_air("--city.expire-after", "3s", cities={"Delhi": 300})
    browser.open(air.address + "/city/Delhi")
    browser.wait_for(".banner", "This city has no readings any more.")
    assert browser.all(".feed.live")
    assert all("404" in each for each in browser.errors())


def test_the_page_polls_if_its_request_for_events_is_rejected(air, browser):
    """One address may have 64 listeners."""
    with contextlib.ExitStack() as stack:
        for _ in range(64):
            other = urllib.request.urlopen(f"{air.address}/events", timeout=60)
            assert stack.enter_context(other).readline() == b"retry: 2000\n"
        browser.open(air.address)
        wait_for(lambda: any("503" in error for error in browser.errors()), "the 503")
        air.say(Delhi=41)
        browser.wait_for("li[data-city=Delhi] .word", "Good")
        assert not browser.all("body[data-live]")
        browser.errors()


def test_the_list_and_the_chart_work_without_script(air, browser):
    browser.allow_script(False)
    browser.open(air.address)
    names = [element.text for element in browser.all("li.city .name")]
    assert names == ["Delhi", "Kolkata", "Mumbai", "Chennai", "Lucknow", "Indore"]
    assert "318" in browser.find("li.city").text and browser.find("li.city time").text
    browser.find("[aria-label=Order] a:nth-child(2)").click()
    assert browser.driver.current_url == air.address + "/?sort=name"
    browser.find("#search").send_keys("KOL")
    browser.find("form button").click()
    wait_for(
        lambda: browser.driver.current_url == air.address + "/?search=KOL&sort=name", "the response"
    )
    assert [element.text for element in browser.all("li.city .name")] == ["Kolkata"]
    browser.find("li.city .name").click()
    wait_for(lambda: browser.all("circle.point"), "the chart")
    assert len(browser.all("circle.point")) == 3 and len(browser.all("polyline.line")) == 1
    browser.find("[aria-label^=Kind] a:last-child").click()
    wait_for(lambda: len(browser.all("rect.bar")) == 3, "bars")
    browser.find("[aria-label='Time shown'] a").click()
    wait_for(lambda: "from=" in browser.driver.current_url, "the zoom")


def test_pages_in_the_back_forward_cache_hold_no_event_streams(air, browser):
    """A browser opens six connections to a host; pages in its back-forward cache use none."""
    for _ in range(4):
        for name in ("Delhi", "Mumbai"):
            browser.open(f"{air.address}/city/{name}")
            browser.wait_for("body[data-live]")
    browser.driver.back()
    browser.wait_for("h1", "Mumbai" if browser.text("h1") == "Mumbai" else "Delhi")
    browser.wait_for("body[data-live]")
    air.say(Delhi=41, Mumbai=41)
    browser.wait_for(".current .word", "Good")


def test_tabs_in_the_background_hold_no_event_streams(air, browser):
    """Only the visible tab holds one, so a seventh tab also gets one of the six connections."""
    first = browser.driver.current_window_handle
    try:
        for _ in range(7):
            browser.driver.switch_to.new_window("tab")
            browser.open(air.address)
            browser.wait_for("body[data-live]")
        air.exporter.wait_for_sample("airquality_exporter_event_listeners", 1)
        # A background tab catches up as soon as it comes to the front.
        last = browser.driver.window_handles[-1]
        browser.driver.switch_to.window(browser.driver.window_handles[1])
        air.say(Delhi=41)
        browser.wait_for("li[data-city=Delhi] .word", "Good")
        browser.driver.switch_to.window(last)
        browser.wait_for("li[data-city=Delhi] .word", "Good")
    finally:
        for handle in browser.driver.window_handles:
            if handle != first:
                browser.driver.switch_to.window(handle)
                browser.driver.close()
        browser.driver.switch_to.window(first)


def test_the_page_works_under_a_path_of_a_proxy_that_rejects_events(air, browser):
    """Links are relative, so a proxy may serve the page anywhere, and may reject events."""

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if not self.path.startswith("/air/"):
                return self.send_error(404)
            if self.path == "/air/events":
                return self.send_error(502)
            response = air.exporter.get(
                self.path.removeprefix("/air"), headers={"Accept": self.headers["Accept"]}
            )
            self.send_response(response.status)
            for name in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options"):
                if name in response.headers:
                    self.send_header(name, response.headers[name])
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        browser.open(f"http://127.0.0.1:{server.server_port}/air/")
        browser.find("li[data-city=Delhi] .name").click()
        browser.wait_for("h1", "Delhi")
        browser.find(".back a").click()
        browser.wait_for("li[data-city=Delhi]")
        air.say(Delhi=40)
        browser.wait_for("li[data-city=Delhi] .word", "Good")
        assert all("502" in error for error in browser.errors())
        browser.open("about:blank")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
