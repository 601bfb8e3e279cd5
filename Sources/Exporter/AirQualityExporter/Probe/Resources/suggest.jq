# Proposes how to read a feed. Input: an array of messages; one that is no JSON is a string, one that is not UTF-8 {"binary": base64 of its
# first 64 bytes}. Output: {"candidates": at most three, best first: [{"flags": {"feed.city-field": "name", …} or "jq": PROGRAM, "scale":
# "us"?, "reads": messages of "of" that were looked at, "index": the member that it takes, "cautions": [TEXT]}], and where there is none
# "missing": ["name", "index"] and "fields": [{"path", "example"}]; "protocol": {"name", "section" of FEEDS.md} or null, "wants":
# "password", "subscription", "reply" (a conversation), "text" (nothing has come) or null}.
# Messages are taken apart into leaves. A step of a leaf's path is a string (a member), {"n", "label"} (a position, its column's name) or
# {"i": jq code, "map"} (an iteration; of an object's keys). Leaves of one path, in whatever messages, are a group. A candidate is a group
# that is an index, the best name beside or outside it, and time, pollutants and place from there. Bounds, because messages may be hostile:
# 60 messages, 3,000 leaves, 250 groups, 60 indexes, 20 elements of an array, 60 members of an object, names of 200 bytes.

# 1. Words, in lower case: "stationName" and "station_name" are "station name", or compact "stationname".
def words: .[0:48] | gsub("(?<a>[a-z0-9])(?<b>[A-Z])"; "\(.a) \(.b)") | ascii_downcase | gsub("[^\\p{L}\\p{N}]+"; " ") | gsub("^ | $"; "");
def compact: .[0:48] | ascii_downcase | explode | map(select(. > 96 or (. > 47 and . < 58))) | implode;
def word($list): test("(^| )(\($list))( |$)");
def index_word: test("aqi|^api$|air ?quality ?(ind|val)|luftqualit.*index") or word("iqar?|ica|imeca|psi|khai|aqhi|lqi|ispu");
def no_index: word("cat(egory)?|level|class|grade|band|rank|id|idx|count|colou?r|units?|status|accuracy|scale|max|min|pollutant|main|time");
def not_now: word("forecasts?|predict\\w*|yesterday|tomorrow|prev(ious)?|old|before|histor\\w*|thresholds?|limits?");
def gas: "pm ?(2 ?5|10|02|1)|no ?2|so ?2|o ?3|ozone|co|nh ?3";
def pollutant: {pm25: "pm2_5", pm02: "pm2_5", p2: "pm2_5", pm10: "pm10", p1: "pm10", no2: "no2", so2: "so2", o3: "o3", ozone: "o3",
  co: "co", nh3: "nh3"}[compact];
def says_index: compact | test("^(aqi|usaqi|aqius|airqualityindex|airquality|caqi|naqi|psi)$");
def value_like: ascii_downcase | test("^(value|val|v|state|s|result|payload|current|now|latest|last|avg|mean|average|reading)$");
def city: "city|town|municipality|ciudad|cidade|ville|commune|stadt|ort|comune|miasto|village";
def site: "station|sitename|location|place|site|estaci[oó]n|esta[cç][aã]o|stazione|stacja|reporting area";
def thing: "device|sensor|node|thing|entity|geo|host";
# Members whose texts are no names; texts that are none (a category, colour, unit, number, date); members of objects that no names key.
def no_name: word("attributions?|pollutants?|parameters?|categor\\w+|source|provider|country|user|network|gateway\\w*|application|tenant"
  + "|unit|types?|[a-z]*aqi|index(es)?|level|colou?r|profile|model|old state|observed property|event|message|server");
def no_text: ascii_downcase | test("^((very.|extremely.)?(good|poor|high|unhealthy.*)|satisfactory|moderate|severe|fair|low|medium"
  + "|hazardous|ok|bad|o(n|ff)line|un(known|available)|none|null|n/?a|[-–—]*|bon(ne)?|buena|boa|mala|regular|gut|schlecht|moyen"
  + "|true|false|aqi|pp[bm]|o3|co|(#|rgb|hsl).*|[a-z]+://.*|.g/m.*|pm ?[0-9_.,]+|[ns]o2|[0-9.,:/ +-]+|\\d{4}-\\d\\d-.*|n[1-5] - .*)$");
def field_word: "(^|\\|)(nox?|id|name|country|city|val|value|avg|us|cn|eu|lat|lon|lng|air|main|before|after|(new|old|full|uplink)[a-z]*"
  + "|event|message|body|params|result|reading|tags|object|components|units?|hourly|daily|rows|items|response|header|[a-z]|rh|snr"
  + "|push|connect|info|update|thing|metric|auth|error|self|location|station|site|place|sensor|device|weather|current|type|meta|data"
  + "|attributes|version|wind|nh3|forecast|coord|[a-z]{2,4}[0-9]{3,5}|no2|so2|o3|co|ozone|m(in|ax))s?(\\||$)|aqi|^pm|temp|hum|index"
  + "|time|press|count|voc|quality|payload|stat(e|us)|field|pollut|propert|measure|batt|position";

# 2. The text of a path: as jq code behind something, as jq code of its own, and as the value of a flag.
def iterates: type == "object" and .i;
def chain: reduce .[] as $s (""; ($s | if iterates then .i elif type == "object" then "[\(.n)]"
    elif test("^[A-Za-z_][A-Za-z0-9_]*$") then ".\(.)" else "[\(tojson)]" end) as $x
  | if . == "" or ($x | test("^[.\\[]")) then . + $x else "\(.) | \($x)" end);
def code: chain | if . == "" or startswith("[") then "." + . else . end;
def pointer: map("/" + if type == "string" then gsub("~"; "~0") | gsub("/"; "~1") else "\(.n)" end) | join("");

# 3. Leaves: {"p": path, "v": value, "if": the measure that a member beside it names}.
def number: if type == "number" then . elif type == "string" and utf8bytelength < 24 then (try tonumber catch null) else null end;
def members: keys_unsorted[0:60] | map(select(utf8bytelength < 200));
# The members of an object that is keyed by names: objects that are alike, a single object, or numbers.
def map_keys: members as $k | . as $o | [$k[] | select($o[.] | type == "object")] as $objects
  | (if ($objects | length) > 1 then [$o[$objects[0:2][]]] as $two | ($two | map(members)) as [$a, $b]
       | select($a - $b != $a or ([$two[] | .[members[0:3][]] | type] | unique | . == ["object"] or . == ["number"])) | $objects
     elif $objects == $k then select([$o[$k[]] | members[] | ascii_downcase] | join("|") | test("name|city|station|site|location|id(\\||$)")
       | not) | $k else select(($k | length) > 1 and all($k[]; $o[.] | number != null)) | $k end)
  | select(.[0:8] | map(compact) | join("|") | test(field_word) | not);
# What a text beside a value says that it measures: {"is": "index", a pollutant or "other", "select": jq code that chooses it}.
def tag: [([], ["attributes"], ["a"], ["metric"], ["Datastream", "ObservedProperty"]) as $at | (try getpath($at) catch null) | objects
  | . as $o | members[] as $k | $o[$k] | strings | (.[-24:] | split("/") | last // "") as $tail
    | (if ($tail | says_index) or (. == "index" and $k == "unit") then "index" else $tail | pollutant // "other" end) as $is
    | select($k | compact | test("^(param|pollutant|deviceclass|quantity|measure|valuetype|unit|path|variable|topic)")
        or $is != "other" and test("^(metric|property|name|type|kind|event|key|code|id|sensor|species|entityid|channel)$"))
    | {is: $is,
       select: "select(\($at + [$k] | code)\(if contains("/") then " | endswith(\("/" + $tail | tojson))" else " == \(tojson)" end))"}]
  | (map(.is) | unique - ["other"]) as $known | if ($known | length) > 1 and ($known | index("index")) then {is: "other"}
    else (map(select(.is != "other")) + .)[0] end;
def is_json: utf8bytelength < 500000 and (startswith("[") or startswith("{"));
def leaves($p; $only):
  def rows($p; $labels): . as $row | range([length, 60] | min) as $n
    | $row[$n] | leaves($p + [{i: "[]?"}, {n: $n, label: ($labels[$n]? // "")}]; $only);
  if ($p | length) > 16 then empty
  elif type == "object" then . as $o | ([map_keys][0] // []) as $map | ([$p[] | strings] | last // "") as $subject
    | ([.[members[]] | arrays | select(length > 1 and length < 60 and all(.[]; type == "string"))][0]) as $legend
    | (if any(members[]; value_like and ($o[.] | number // (arrays | .[1]? | number)) != null)
         and ($subject | says_index or pollutant or test("aqi|air_?quality"; "i") | not) then tag else null end) as $tag
    | ($map[0:20][] as $k | ($o[$k] | type == "object") as $object
        | {i: "objects | to_entries[]\(if $object then " | select(.value | objects)" else "" end)", map: ($object or all($map[0:8][];
          test("^(\\p{Lu}\\p{Ll}|\\p{Lo})")))} as $step
        | {p: ($p + [$step, "key"]), v: $k, if: $only}, ($o[$k] | leaves($p + [$step, "value"]; $only))),
      ((members - $map)[] as $k | $o[$k]
        | if $tag and ($k | value_like) then select($tag.is != "other") | leaves($p + [$k]; $tag + {at: ($p | length)})
          elif $legend and type == "array" and (.[0] | type == "array" and length == ($legend | length)) then
            .[0:20][] | arrays | rows($p + [$k]; $legend) else leaves($p + [$k]; $only) end)
  elif type == "array" then (.[0:20] | map(type) | unique) as $types | if $types == ["object"] or $types == ["string"] and (.[0]
    | is_json) then .[0:20][] | leaves($p + [{i: "[]?"}]; $only)
      elif $types == ["array"] then (.[0] | if length > 1 and all(.[]; type == "string" and number == null) then . else null end) as $head
        | .[if $head then 1 else 0 end:20][] | rows($p; $head)
      else . as $a | range([length, 12] | min) as $n | $a[$n] | leaves($p + [{n: $n}]; $only) end
  else (if type == "string" and is_json then (try fromjson catch null) else null end) as $json
    | if $json != null then $json | leaves($p + [{i: "(fromjson?)"}]; $only)
      else {p: $p, v: (if type == "string" then .[0:200] else . end), if: $only} end end;
# JSON behind a prefix: Socket.IO, SockJS, STOMP, NATS, server-sent events.
def text_leaves: (.[0:2000] | [split("[")[0], split("{")[0] | length] | min) as $i | .[$i:$i + 1] as $c
  | select($c != "" and utf8bytelength < 2000000) | (try (.[$i:] | rtrimstr("\u0000") | fromjson) catch empty)
  | leaves([{i: "strings | .[(split(\"\($c)\")[0] | length):] | rtrimstr(\"\\u0000\") | (fromjson?)"}]; null);

# 4. Groups: what the last words of a path say. "l" are its words, "root" the position behind its last iteration.
def labels: . as $p | [range(length) as $i | $p[$i] | if type == "string" then select($i == 0 or ($p[$i - 1] | type != "object"
  or .map == null)) elif iterates then empty else .label // "" end];
def group($words): .[0] as $one | (map(.v) | .[0:60]) as $v
  | {p: $one.p, if: $one.if, l: ($one.p | labels | map($words[.] // "")), v: $v, m: (map(.m) | unique), n: [$v[] | number | numbers],
     texts: [$v[] | strings | select(number == null)], root: ([range($one.p | length) | select($one.p[.] | iterates) + 1] | last // 0)}
  | .last = (.l[-1] // "") | .before = (.l[-2] // "") | .subject = .last
  | if .last | value_like or test("^(us|usa|us epa|epa|eu|in|cn|index|overall|total|number (int|long|double|decimal)|)$")
    then .subject = "\(.before) \(.last)" else . end;
# An index is under a name that says so, 9; of one pollutant, 5; else the only number beside a name, 3. "AQI 301" is a number with words.
def index_score: [.texts[] | select(test("[0-9]"))] as $with | (.subject | index_word) as $said
  | .mixed = ($with != [] and ($said or (.subject | test("air ?quality")) or all($with[]; test("aqi"; "i")))
      and all($with[]; test("^[^0-9]{0,20}[0-9]{1,4}([.][0-9]+)?([^0-9.,].*)?$")))
  | if .mixed then .n += [$with[] | capture("(?<n>[0-9]+([.][0-9]+)?)").n | tonumber] else . end
  | .score = (if .n == [] or ($with != [] and (.mixed | not)) or any(.n[]; . < 0 or . > 9999) or any(.l[]; not_now) or .p[-1] == "key"
    then 0 elif .if then (if .if.is == "index" then 9 else 0 end) elif .subject | no_index then 0
      elif $said then (if any(.l[]; word(gas)) then 5 elif .subject | test("cn|china") then 8 elif .subject | word("us|aqius|epa") then 8.9
        else 9 end) elif .mixed then 6
      elif (.last | test("^(index|air ?quality|(pollution|quality)( index)?|us|value|val|v|reading|)$")) and all(.p[-2:][] | objects;
        .map != false) and any(.n[]; . > 10) and all(.n[]; . <= 1000) and (any(.l[]; word(gas)
          or test("temp|hum|press|wind|weather|noise|traffic|voc|batt|ping|count|uv|rain|coord|geo|offset|class")) | not)
        then (if .last == "us" or any(.l[]; test("air|pollution")) then 4 else 3 end) else 0 end);
# A name is under a name that says so: a city before a station, a station before a region, a device before its identifier.
def name_score: (if .last | test("^(value|v|text)$") then [.before, .l[-3] // ""] else [.last, .before] end) as [$last, $before]
  | if .p[-1] == "key" and (.p[-2] | iterates) then (if .texts | unique | length > 1 then 7 else 3.5 end)
    elif "\($last) \($before)" | no_name
      and ($last | test("(^| )(city|station|site|location)( name)?$|^(sensor|station|site|device) index$") | not)
      then 0 elif ($last | test("^(name|title|label|en)$")) and ($before | test("(^| )(\(city)|\(site)|\(thing))( name)?$"))
      then 8.4
    else first(([9, "^(\(city))( name)?( en)?$"], [8.5, "^(\(site))( name| title| label)?( en)?$|(^| )(\(city)|\(site)) ?name( en)?$"],
        [7.5, "^(friendly |display |full |local )?(name|title|label)( en)?$"], [7.2,
          "^(region|area|district|zone|county|ward|province)( name)?$"],
        [6, "^(\(thing))$|(^| )(\(thing)) ?name$"], [4, "(^| )(\(thing)|station|site|location|uid) ?(id|index|no|number|code)?$"],
        [3.8, "serial|(^| )(mac|eui|uid)$|eui$|^entity id$"], [3.6, "^(topic|channel|subject|path|p)$"], [3, "^(id|code|key)$"],
        [5, "^$"], [0, ""]) | select(.[1] as $r | $last | test($r)) | .[0]) end
  | if . == 3 and ($before | test("^(\(city)|\(site)|\(thing))$")) then 4.1 else . end;
def names: .score = name_score | .score as $score | (.texts | unique | .[0:12]) as $texts | if $score == 0 then empty
    elif $score == 3.6 then [.texts[] | select(test("/.")) | split("/")] as $parts # of a topic the part that differs most
      | .part = ([range($parts[0] | length) as $i | select(all($parts[]; .[$i] // "" | . != "" and (compact | test(field_word
            + "|^(air|sensors|tele|spbv10|[dn]data|cities|v[0-9]+)$") | not))) | $i]
            | max_by(. as $i | [($parts | map(.[$i]) | unique | length), $i])) | select(.part != null)
    elif $texts != [] then select($score == 7 or all($texts[]; no_text | not))
      | if (.m | length) < 2 and .root > 0 and (.texts | length) > ($texts | length) and ($texts | length) < 12 then .score -= 3 else . end
    else select($score <= 4.1 and .n != [] and all(.n[]; . == floor) and ($score > 3 or .root > 0)) end;
def is_time: (if .last | test("^v(alue)?$") then .before else .last end
    | word("measured.*|.*observ.*|time|times?tamp|ts|datetime|date|dt|at|updated?|recorded|iso|utc|epoch|seen|fecha|data")
      and (word("zone|id|interval|offset|name|ms|duration|uptime|local") | not))
  and (any(.l[]; not_now) | not) and all(.v[] | values; (numbers | . > 946684800 and . < 1e17)
    // (strings | test("^\\d{4}-?\\d\\d-?\\d\\d[T ]?\\d\\d:?\\d\\d|^(\\d\\d[-.]){2}\\d{4} \\d|^\\d{10,16}$")) // false);
def concentration: if .if then .if.is | select(. != "index") else select(any(.l[]; index_word or not_now or test("count")) | not)
  | .subject | gsub("( (val(ue)?|v|atm|u?gm3|[uµμ]g m[3³]|conc(entration)?|mass|avg|mean|now|state|last))+$"; "") | pollutant // empty end;

# 5. Candidates. Of the groups that can be read beside $g (the iterations on its own way are on that of $g) a near one is best.
def common($q): . as $p | [range(length) | select($p[.] != $q[.])][0] // length;
def nearest($g; $groups): [$groups[] | select(.p != $g.p) | (.p | common($g.p)) as $c
    | select(.root <= $c and (.last != "" or .p[-1] == "key" or .p[:-1] == $g.p[:-1]) and (.score == 3 and $g.if | not))
    | .score += 0.3 * $c - 0.1 * (.p | length) - 2 * ([$g.p[.root:$g.root][] | objects | select(.map != null or .i == "[]?")] | length)]
      | max_by(.score);
def candidate($by; $computed): . as $g
  | nearest($g; [$by.names[] | select($g.score != 3 or .score > 7.9 or .last == "")]) as $name | select($name)
  | nearest($g; $by.times) as $time | nearest($g; $by.latitudes) as $lat | nearest($g; $by.longitudes) as $lon | nearest($g;
    $by.points) as $point
  | ([$by.concentrations[] | select(.root == $g.root and (.p | common($g.p)) >= $g.root and (.if == $g.if or .if == null))]
      | group_by(.pollutant) | map(min_by(.p | tojson | length))) as $pollutants
  | ([$name, $time, (if $point then $point elif $lat and $lon then $lat, $lon else null end)] | map(values)) as $beside
  # $outer: the lengths of the ways to what lies outside the element, which variables hold.
  | ($g.if.at // $g.root) as $at | ([$beside[] | select((.p | common($g.p)) < $at).root] | unique) as $outer | $g.p[:$at] as $way
  | def ref: if (.p | common($g.p)) >= $at then .p[$at:] | code else .root as $r | "$o\($outer | index($r))\(.p[$r:] | chain)" end;
    def text: if .part then "(\(ref) | split(\"/\")[\(.part)])" elif .mixed then "(\(ref) | capture(\"(?<n>[0-9]+([.][0-9]+)?)\").n)"
      else ref end;
    def real: if any(.v[]; type == "string") then "(\(ref) | tonumber? // null)" else ref end;
    def flag($name; $default): pointer | (if test("^/[^/~]+$") and (test("^/[0-9]") | not) then .[1:] else . end) | select(. != $default)
      | {("feed." + $name): .};
  select([$g, $beside[], $pollutants[]] | any(.[].p[] | strings // .label? // ""; test("[\\x00-\\x1f\\x7f-\\x9f]")) | not)
  | ($by.total > ($g.m | length)) as $partly
  | {score: ($g.score + 0.5 * $name.score), m: $g.m, kind: $g.score, index: ($g.p | map(strings // .label?) | last // ""), n: $g.n,
    computed: $computed,
     scale: (if $computed then null elif any($g.l[]; word("usa?|epa|aqius|usaqi")) then "us" elif any($g.l[]; word("european|eu|eaqi"))
       then "eu" else null end)}
  + (reduce ($outer + [$at])[] as $r ({t: [], from: 0};
      .t += [($g.p[.from:$r] | code | select(. != ".")), (if $r < $at then ". as $o\($outer | index($r))" else empty end)] | .from = $r)
    | .t + [($g.if.select | values), (if $partly and $way[-1] == {i: "[]?"} then (if $g.p[$at] | type == "object" then "arrays"
      else "objects" end) else empty end),
      "{" + (["city: \($name | text)", (if $computed then empty else "aqi: \($g | text)" end), ($time | values | "time: \(ref)"),
        (if $pollutants == [] then empty else "pollutants: {\($pollutants | map("\(.pollutant): \(real)") | join(", "))}" end),
        (if $point then "place: \($point | ref)" elif $lat and $lon then "place: {latitude: \($lat | ref), longitude: \($lon | ref)}"
          else empty end)] | join(", ")) + "}",
      if $computed then ".aqi = (.pollutants | india_aqi)" elif $partly then "select(.aqi)" else empty end]
    | join(" | ") | {jq: (if $partly or ($by.types | length) > 1 then "(\(.))?" else . end)})
  + if $computed or $g.if or $g.mixed or $outer != [] or $name.part or $pollutants != [] or $lat or $point or ($at == 0 and $partly)
      or any($way[:-1][]; iterates) or $at > 0 and $way[-1] != {i: "[]?"} then {}
    else {flags: ([($way[:-1] | select(. != []) | {"feed.items": pointer}), ($name.p[$at:] | flag("city-field"; "city")),
      ($g.p[$at:] | flag("value-field"; "aqi")), ($time | values | .p[$at:] | flag("time-field"; "time"))] | add // {})} end;
def cautions: [if .computed then "the index is computed from momentary concentrations, which are taken as µg/m³"
    elif all(.n[]; . <= 10) then "no value is above 10: perhaps the number of a category" else empty end,
  if .kind == 5 then "the index of one pollutant" elif .kind < 5 and (.computed | not) then "no member's name says that this is an index"
    else empty end,
  if .others == [] then empty else "other indexes beside it: \(.others | join(", "))" end];

# 6. Protocols by what a first message looks like (an object: " type:auth_required ha_version:2026.11 data:{ "), and what they wait for.
def look: def short: if type == "object" then "{" elif type == "array" then "[" else tostring | .[0:40] end;
  if type == "string" then .[0:100] elif type == "array" then "[" + (.[0:4] | map(short) | join(","))
  else [" ", (objects | . as $o | members[] | "\(.):\($o[.] | short) ")] | add end;
def protocol: look as $look | first({reply: [["Socket.IO", "^(0\\{\"sid\"|4[02]([\\[/{]|$))"], ["NATS",
  "^(INFO \\{|MSG |\\+OK|PING\r?\n|-ERR)"],
    ["WAMP", "^\\[([0-4],[^,]*,\\{|36,)"], ["Phoenix", "^\\[.*,phx_| event:phx_reply"], ["SignalR", "^ $| type:6 "]],
  subscription: [["SockJS", "^([oh]$|a\\[\"|Welcome to SockJS)"], ["STOMP", "^(CONNECTED|MESSAGE|ERROR|RECEIPT)\r?\n"], ["Vert.x",
    " type:(rec|err) "],
    ["GraphQL", " type:(connection_(ack|error)|ka|start_ack) "], ["Action Cable", " type:(welcome|(confirm|reject)_subscription) "],
    ["Pusher", " event:pusher"], ["Centrifugo", " (connect|push):\\{"], ["Signal K", " self:vessels"], ["MQTT", "^ binary:(IA|M)"]],
  password: [["Home Assistant", " type:auth_"], ["Directus", " type:auth "]],
  none: [["Server-sent events", "^(data|event|id|retry): ?"], ["ntfy", " event:(open|keepalive) "], ["MessagePack",
    "^ binary:([g-n]|3[A-Z])"],
    ["binary", "^ binary:"]]} | to_entries[] | .key as $wants | .value[] | select(.[1] as $r | $look | test($r)) | [.[0], $wants]);

. as $messages | length as $total | [range(0; $total; $total / 60 | ceil)] as $sample
| [limit(3000; $sample[] as $i | limit([80, 3000 / ($sample | length)] | max | floor; $messages[$i]
    | if type == "string" then text_leaves else leaves([]; null) end) | .m = $i)] as $leaves
| (reduce ([$leaves[].p | labels[]] | unique[0:400][]) as $l ({}; .[$l] = ($l | words))) as $words
| [$leaves | group_by([.p, .if] | tojson) | .[0:250][] | group($words) | index_score] as $all | [$all[] | select(.n != [])] as $numbers
| {total: ($sample | length), types: ([$messages[$sample[]] | type] | unique), names: [$all[] | names],
   times: [$all[] | select(is_time) | .score = (if .last | test("measured|observ|iso|record") then 3 else 2 end)],
   concentrations: [$numbers[] | concentration as $c | .pollutant = $c | select(any(.n[]; . >= 0 and . < 100000))],
   latitudes: [$numbers[] | select((.last | test("^lat(itude)?$")) or .p[-2:] == ["geo", {n: 0}]) | .last = "lat"],
   longitudes: [$numbers[] | select((.last | test("^(lng|lon(g(itude)?)?)$")) or .p[-2:] == ["geo", {n: 1}]) | .last = "lon"],
   points: [$numbers[] | select(.p[-2:] == ["coordinates", {n: 0}]) | .p |= .[:-2] | .last = "point"]} as $by
| [[$all[] | select(.score > 0) | . as $g | select(.score > 4 or (([$all[] | select((.score | IN(3, 4)) and .p[:-1] == $g.p[:-1])]
  | length) == 1))][0:60][]
    | candidate($by; false)]
| . + (if any(.[]; .kind >= 5 and .score > 5) then [] else [$by.concentrations[] | select(.pollutant == "pm2_5") | .score = 4
  | candidate($by; true)] end)
# One program that comes from two groups (a list and a single object) reads the messages of both.
| group_by(.jq) | map((map(.m[]) | unique) as $m | max_by(.score) | .m = $m | .score += 4 * ($m | length) / $by.total) | sort_by(-.score)
| .[0] as $best | [.[] | select(.kind > 4 and .m - $best.m == .m and .score + 6 > $best.score)][0] as $second
| if $second and $best.kind >= 4 then [$best + {jq: "(\($best.jq))?, (\($second.jq))?", m: ($best.m + $second.m | unique), flags: null}] + .
  else . end
| . as $candidates | ([$messages[0:5][] | protocol][0]) as $protocol
| {candidates: [.[0:3][] | . as $c | ({flags: (.flags | values)} // {jq: .jq}) + {reads: (.m | length), of: $by.total, index: .index}
    + (({scale: (.scale | strings)}) // {}) + {cautions: (.others = ([$candidates[] | select(.kind >= 8 and $c.kind >= 8
      and .index != $c.index and (.m - $c.m | length) < (.m | length)) | .index] | unique) | cautions)}], missing: [], fields: [],
   protocol: ($protocol | if . then {name: .[0], section: .[0]} else null end), wants: null}
| if $candidates != [] then . else any($all[]; .score > 0) as $index
  | .missing = [if $by.names == [] or $index then "name" else empty end, if $index then empty else "index" end]
  | .fields = [$all[0:40][] | select(any(.v[]; . != null)) | {path: (.p | code), example: (first(.v[] | values) | if type == "string"
    then .[0:60] else . end)}] | .wants = (if any(($messages[0:5][] | strings), ($leaves[0:100][].v | strings); .[0:200]
      | test("auth_required|unauthori|invalid.{0,12}token|password|forbidden|credential"; "i")) then "password"
    elif $protocol then $protocol[1] | select(. != "none") // null elif $total == 0 then "text" else null end) end
