"""The three indices, implemented independently from the published tables and texts.

- India: CPCB, "National Air Quality Index" (2014), table of breakpoints; means of 24 hours with at
  least 16 values (the report's own minimum), of 8 with at least 6 for ozone and carbon monoxide.
- America: EPA-454/B-24-002 (May 2024), table 6 and "How the NowCast is calculated".
- Europe: EEA, European Air Quality Index, bands of 2024/25; numbered with twenty points per band.

Series have the newest hour first, and None for a missing value.
"""

import math

# Weight of one ppb in µg/m³ at 25 °C: grams per mole over 24.45 litres.
PPB = {"no2": 46.0055 / 24.45, "so2": 64.066 / 24.45, "o3": 47.9982 / 24.45, "co": 28.0101 / 24.45}

INDIA_CLASSES = [(0, 50), (51, 100), (101, 200), (201, 300), (301, 400), (401, None)]
INDIA = {
    "pm2_5": [(0, 30), (31, 60), (61, 90), (91, 120), (121, 250), (251, None)],
    "pm10": [(0, 50), (51, 100), (101, 250), (251, 350), (351, 430), (431, None)],
    "no2": [(0, 40), (41, 80), (81, 180), (181, 280), (281, 400), (401, None)],
    "so2": [(0, 40), (41, 80), (81, 380), (381, 800), (801, 1600), (1601, None)],
    "o3": [(0, 50), (51, 100), (101, 168), (169, 208), (209, 748), (749, None)],
    "co": [(0, 1), (1.1, 2), (2.1, 10), (10.1, 17), (17.1, 34), (34.1, None)],
    "nh3": [(0, 200), (201, 400), (401, 800), (801, 1200), (1201, 1800), (1801, None)],
}

US_CLASSES = [(0, 50), (51, 100), (101, 150), (151, 200), (201, 300), (301, 500)]
US = {
    "pm2_5": [(0, 9.0), (9.1, 35.4), (35.5, 55.4), (55.5, 125.4), (125.5, 225.4), (225.5, 325.4)],
    "pm10": [(0, 54), (55, 154), (155, 254), (255, 354), (355, 424), (425, 604)],
    "co": [(0, 4.4), (4.5, 9.4), (9.5, 12.4), (12.5, 15.4), (15.5, 30.4), (30.5, 50.4)],
    "no2": [(0, 53), (54, 100), (101, 360), (361, 649), (650, 1249), (1250, 2049)],
    "so2": [(0, 35), (36, 75), (76, 185), (186, 304), (305, 604), (605, 1004)],
    "o3 8h": [(0, 54), (55, 70), (71, 85), (86, 105), (106, 200)],
    "o3 1h": [None, None, (125, 164), (165, 204), (205, 404), (405, 604)],
}

EU = {
    "pm2_5": [5, 15, 50, 90, 140],
    "pm10": [15, 45, 120, 195, 270],
    "no2": [10, 25, 60, 100, 150],
    "o3": [60, 100, 120, 160, 180],
    "so2": [20, 40, 125, 190, 275],
}


def linear(value, low, high, first, last):
    return first + (last - first) * (value - low) / (high - low)


def look_up(value, rows, classes):
    """Between two classes, a straight line joins them; above the last end, the slope of the last
    closed class continues.
    """
    previous = None
    for row, (first, last) in zip(rows, classes):
        if row is None:
            continue
        low, high = row
        if value < low:
            return None if previous is None else linear(value, previous[0], low, previous[1], first)
        if high is None:
            return first + (value - low) * slope
        if value <= high:
            return linear(value, low, high, first, last)
        previous, slope = (high, last), (last - first) / (high - low)
    return previous[1] + (value - previous[0]) * slope


def mean(series, hours, least):
    present = [value for value in series[:hours] if value is not None]
    return sum(present) / len(present) if len(present) >= least else None


def newest(series):
    return next((value for value in series[:3] if value is not None), None)


def rounded(value):
    return math.floor(value + 0.5)


def india(air):
    found = {}
    for name, rows in INDIA.items():
        series = air.get(name, [])
        value = mean(series, 8, 6) if name in ("o3", "co") else mean(series, 24, 16)
        if value is None:
            continue
        if name == "co":
            value /= 1000
        found[name] = look_up(value, rows, INDIA_CLASSES)
        hour = newest(series)
        if name == "o3" and value > 208:
            # The last classes are for means of one hour.
            found[name] = max(300, 0 if hour is None else look_up(hour, rows, INDIA_CLASSES))
    if len(found) < 3 or not {"pm2_5", "pm10"} & found.keys():
        return None
    return max(found.values())


def nowcast(series):
    if sum(value is not None for value in series[:3]) < 2:
        return None
    present = {age: value for age, value in enumerate(series[:12]) if value is not None}
    top = max(present.values())
    weight = max(0.5, 1 - (top - min(present.values())) / top) if top else 1
    weights = {age: weight**age for age in present}
    return sum(value * weights[age] for age, value in present.items()) / sum(weights.values())


def cut(value, decimals=0):
    return math.floor(value * 10**decimals + 1e-8) / 10**decimals


def us(air):
    found = []
    for name, decimals in (("pm2_5", 1), ("pm10", 0)):
        value = nowcast(air.get(name, []))
        if value is not None:
            found.append(look_up(cut(value, decimals), US[name], US_CLASSES))
    monoxide = mean(air.get("co", []), 8, 6)
    if monoxide is not None:
        found.append(look_up(cut(monoxide / PPB["co"] / 1000, 1), US["co"], US_CLASSES))
    dioxide = newest(air.get("no2", []))
    if dioxide is not None:
        found.append(look_up(cut(dioxide / PPB["no2"]), US["no2"], US_CLASSES))
    sulphur = newest(air.get("so2", []))
    if sulphur is not None:
        hour = cut(sulphur / PPB["so2"])
        if hour <= 304:
            found.append(look_up(hour, US["so2"], US_CLASSES))
        else:
            day = mean(air["so2"], 24, 18)
            day = cut(day / PPB["so2"]) if day is not None else 0
            found.append(200 if day <= 304 else look_up(day, US["so2"], US_CLASSES))
    eight = mean(air.get("o3", []), 8, 6)
    if eight is not None:
        found.append(look_up(min(200, cut(eight / PPB["o3"])), US["o3 8h"], US_CLASSES))
        hour = newest(air["o3"])
        value = None if hour is None else look_up(cut(hour / PPB["o3"]), US["o3 1h"], US_CLASSES)
        found += [] if value is None else [value]
    return max(found) if found else None


def eu(air):
    values = {name: newest(air.get(name, [])) for name in EU}
    if values["no2"] is None or values["o3"] is None or values["pm2_5"] is values["pm10"] is None:
        return None
    found = []
    for name, value in values.items():
        if value is not None:
            limits = [0, *EU[name]]
            band = next((band for band in range(5) if value <= limits[band + 1]), 4)
            found.append(linear(value, limits[band], limits[band + 1], band * 20, band * 20 + 20))
    return max(found)


# Each rule, and how its result becomes an integer.
RULES = {
    "india": (india, rounded),
    "us": (us, rounded),
    "eu": (eu, lambda value: math.floor(value + 1e-9)),
}
