"""Keys, types and enumerations of a dashboard against the classes of Grafana's own foundation SDK.

The SDK reads JSON without looking: it drops unknown keys and takes any value. So this walks the annotations of its
classes and looks itself.
"""

import enum
import functools
import inspect
import re
import types
import typing

from grafana_foundation_sdk.cog import plugins, runtime
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import prometheus, units

from grafana.complaints import Complaints
from grafana.dashboards import PROMETHEUS, panels, variables

plugins.register_default_plugins()

UNITS = {value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("_")}
FREE = (typing.Any, object)


# What a link in a field's configuration holds; the SDK takes the type of dashboard links for it.
DATA_LINK = {"title": str, "url": str, "targetBlank": bool}


@functools.cache
def fields(cls: type) -> dict[str, object]:
    """JSON key → annotation. The keys stand in `from_json` only."""
    hints = typing.get_type_hints(cls)
    pairs = re.findall(r'if "([^"]+)" in data:.*?args\["(\w+)"\]', inspect.getsource(cls.from_json), re.DOTALL)
    return {key: hints[name] for key, name in pairs}


def type_of_json(cls: type) -> str | None:
    """The `type` that a class of a union stands for, as its constructor sets it."""
    try:
        return cls().type_val
    except (TypeError, AttributeError):
        return None


def wrong(value: object, hint: object, path: str) -> list[str]:
    if hint in FREE:
        return []
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return of_union(value, arguments, path)
    if value is None:
        return [] if hint is type(None) else [f"{path}: null, expected {hint}"]
    if hint is type(None):
        return [f"{path}: {value!r}, expected null"]
    if origin is typing.Literal:
        return [] if value in arguments else [f"{path}: {value!r}, expected one of {list(arguments)}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{path}: {value!r}, expected a list"]
        return [each for index, item in enumerate(value) for each in wrong(item, arguments[0], f"{path}[{index}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{path}: {value!r}, expected an object"]
        return [each for key, item in value.items() for each in wrong(item, arguments[1], f"{path}.{key}")]
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        good = isinstance(value, (str, int)) and not isinstance(value, bool) and value in {each.value for each in hint}
        return [] if good else [f"{path}: {value!r}, expected one of {[each.value for each in hint]}"]
    if hint in (str, int, float, bool):
        wanted = {float: (int, float)}.get(hint, (hint,))
        good = isinstance(value, wanted) and (hint is bool or not isinstance(value, bool))
        return [] if good else [f"{path}: {value!r}, expected {hint.__name__}"]
    return of_object(value, hint, path)


def of_union(value: object, arguments: tuple, path: str) -> list[str]:
    if isinstance(value, dict) and "type" in value:
        named = [each for each in arguments if inspect.isclass(each) and type_of_json(each) == value["type"]]
        if len(named) == 1:
            return wrong(value, named[0], path)
    tries = [wrong(value, each, path) for each in arguments]
    # A null says nothing about what was meant; any other branch does.
    return min(
        (each for each, hint in zip(tries, arguments, strict=True) if hint is not type(None) or not each), key=len
    )


def of_object(value: object, cls: type, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {value!r}, expected an object"]
    if cls is model.Panel and value.get("type") == "row":
        cls = model.RowPanel
    known = dict(fields(cls))
    if "type" not in known and type_of_json(cls) is not None:
        known["type"] = typing.Literal[type_of_json(cls)]
    found = [f"{path}.{key}: no such key" for key in value if key not in known]
    for key, hint in known.items():
        if key not in value:
            continue
        inner = f"{path}.{key}"
        if cls is model.Panel and key in ("options", "fieldConfig", "targets"):
            found += of_panel(value, key, inner)
        elif cls is model.AnnotationQuery and key == "target":
            if value.get("builtIn") != 1:
                found += wrong(value[key], prometheus.Dataquery, inner)
        elif cls is model.MatcherConfig and key == "options":
            pass
        else:
            found += wrong(value[key], hint, inner)
    return found


def of_panel(panel: dict, key: str, path: str) -> list[str]:
    config = runtime.panelcfg_config(panel.get("type", ""))
    if config is None:
        return [f"{path}: {panel.get('type')!r} is no panel type"] if key == "options" else []
    if key == "targets":
        return [
            each
            for index, target in enumerate(panel[key])
            if target.get("datasource", {}).get("type") == PROMETHEUS
            for each in wrong(target, prometheus.Dataquery, f"{path}[{index}]")
        ]
    if key == "options":
        return wrong(panel[key], config.options_from_json_hook.__self__, path)
    hook = config.field_config_from_json_hook
    custom = hook.__self__ if hook else None
    found = [f"{path}.{name}: no such key" for name in panel[key] if name not in ("defaults", "overrides")]
    for name, value in panel[key].get("defaults", {}).items():
        found += of_field_setting(name, value, custom, f"{path}.defaults")
    for index, override in enumerate(panel[key].get("overrides", [])):
        found += wrong(override, model.DashboardFieldConfigSourceOverrides, f"{path}.overrides[{index}]")
        for one in override.get("properties", []):
            found += of_field_setting(one.get("id", ""), one.get("value"), custom, f"{path}.overrides[{index}]")
    return found


def of_field_setting(name: str, value: object, custom: type | None, path: str) -> list[str]:
    """A member of a field's configuration: `unit`, or as overrides write it, `custom.lineWidth`."""
    if name == "custom":
        return wrong(value, custom, f"{path}.custom") if custom else [f"{path}.custom: this panel has none"]
    if name == "links":
        found = [f"{path}.links: {key!r} is no key of a link" for link in value for key in link if key not in DATA_LINK]
        good = [(link[key], hint, key) for link in value for key, hint in DATA_LINK.items() if key in link]
        return found + [each for item, hint, key in good for each in wrong(item, hint, f"{path}.links.{key}")]
    if name == "unit" and value not in UNITS and not str(value).startswith("time:"):
        return [f"{path}.unit: {value!r} is no unit of Grafana"]
    known, key = (
        (fields(custom) if custom else {}, name[7:])
        if name.startswith("custom.")
        else (fields(model.FieldConfig), name)
    )
    return wrong(value, known[key], f"{path}.{name}") if key in known else [f"{path}.{name}: no such key"]


def check_types(name: str, dashboards: dict[str, dict]) -> Complaints:
    complaints, dashboard = Complaints(), dashboards[name]
    parts = [(name, {**dashboard, "panels": []}, model.Dashboard)]
    parts += [(f"{name}: {panel.get('title')!r}", panel, model.Panel) for panel in panels(dashboard, rows=True)]
    for path, part, cls in parts:
        found = wrong(part, cls, path)
        complaints.that(not found, "\n".join(found))
    for variable in variables(dashboard):
        current = variable.get("current", {})
        complaint = f"{name}: ${variable.get('name')} needs current.text and current.value"
        complaints.that("text" in current and "value" in current, complaint)
    return complaints
