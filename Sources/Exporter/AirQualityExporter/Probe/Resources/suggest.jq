# Proposes how to read a feed: from a server's messages to at most three candidates, best first, each of which `probe` then runs over all messages.
# Input: an array of messages; one that is no JSON is a string, one that is not UTF-8 {"binary": base64 of its first 64 bytes}. Output: {"candidates": [{"flags": {"feed.city-field": "name", …} or "jq": PROGRAM, "scale": "us"?,
#   "reads": messages of "of" that were looked at, "index": the member that it takes, "cautions": [TEXT]}], and where there is none "missing": ["name", "index"] and "fields": [{"path", "example"}]; "protocol": {"name", "section" of
#   FEEDS.md} or null, "wants": "password", "subscription", "reply" (a conversation), "text" (nothing has come) or null}.
# How: messages are taken apart into leaves. The steps of a leaf's path are strings (members), {"n": 2} (a position) and iterations: {"each"} of an array, {"map"} of an object whose keys are names, {"json"} in a text,
#   {"cut"} behind a prefix, {"line"} topic and value, {"pairs"} key=value, {"split"} a row of CSV. Leaves of one path, in whatever messages, are a group. A candidate is a group that is an index, the best name beside or outside
#   it, and time, pollutants, place from there. Bounds, because messages may be hostile: 60 messages, 3,000 leaves, 250 groups, 20 members of an array, 60 of an object, names of 200 bytes.
# 1. Words, lower-case: "stationName" and "station_name" are "station name". Texts that are no names: a category, a colour, a unit, a pollutant, a number, a date, an address, no value. Keys with a field_word are no names of places.
def words: .[0:48] | gsub("(?<a>[a-z0-9])(?<b>[A-Z])"; "\(.a) \(.b)") | ascii_downcase | gsub("[^\\p{L}\\p{N}]+"; " ") | ltrimstr(" ") | rtrimstr(" ");
def compact: .[0:48] | ascii_downcase | split("_") | join("") | split(" ") | join("") | split("-") | join("") | split(".") | join("");
def word($list): test("(^| )(\($list))( |$)");
def index_word: test("aqi|^api$|air ?quality ?(ind|val)|luftqualit.*index|indice.*(aire?|qualit)") or word("iqar?|ica|imeca|psi|khai|aqhi|lqi|ispu");
def no_index: word("cat|category|level|class|grade|bucket|band|rank|ranking|id|idx|count|colou?r|units?|status|trend|change|accuracy|scale|version|max|min|"
  + "limit|target|alarm|pressure|pollutant|dominant|main|standard|time|ts|code|sub|station|sensor|severity");
def not_now: word("forecasts?|predict\\w*|yesterday|tomorrow|previous|prev|old|before|history|historic\\w*|thresholds?|limits?|breakpoints?");
def pollutant_word: word("pm ?(2 ?5|10|02|1)|no ?2|so ?2|o ?3|ozone|co|nh ?3");
def other_word: test("temp|hum|pressure|wind|weather|noise|traffic|voc|battery|ping|count|uv|rain|coordinates|geo|offset|quality class");
def city_word: "city|town|municipality|ciudad|cidade|ville|commune|stadt|ort|comune|miasto|kommune|village";
def site_word: "station|sitename|location|place|site|estaci[oó]n|esta[cç][aã]o|stazione|stacja|reporting area|local authority|neighbou?rhood|monitor";
def thing_word: "device|sensor|node|thing|entity|geo|host";
def no_name: word("attributions?|pollutants?|parameters?|categor\\w+|source|provider|manufacturer|country|user|operator|network|gateway\\w*|application|tenant|unit|types?|"
  + "[a-z]*aqi|index|indexes|level|colou?r|file|profile|model|api|old state|observed property|event|message|client|server");
def no_text: ascii_downcase | test("^(good|satisfactory|moderate|poor|very.poor|severe|fair|low|medium|high|very.high|hazardous|(very.)?unhealthy.*|extremely.poor|bad|ok|online|offline|"
  + "unknown|unavailable|none|null|n/?a|[-–—]*|bon(ne)?|buena|boa|mala|regular|gut|schlecht|moyen|#[0-9a-f]{3,8}|(rgba?|hsl)\\(.*|[a-z]+://.*|[µμu]g/m.*|pp[bm]|"
  + "aqi|pm ?[0-9_.,]+|no2|so2|o3|co|nh3|ozone|true|false|[0-9.,:/ +-]+|\\d{4}-\\d\\d-\\d\\d.*|n[1-5] - .*)$");
def value_like: IN("value", "val", "v", "state", "s", "result", "payload", "current", "now", "latest", "last", "avg", "mean", "average", "reading");
def number: if type == "number" then . elif type == "string" and utf8bytelength < 24 then (try tonumber catch null) else null end;
def says_index: compact | IN("aqi", "usaqi", "aqius", "airqualityindex", "airquality", "europeanaqi", "caqi", "naqi", "iqa", "psi");
def pollutant: {"pm25": "pm2_5", "pm2,5": "pm2_5", "pm02": "pm2_5", "p2": "pm2_5", "pm10": "pm10", "p1": "pm10", "no2": "no2", "so2": "so2", "o3": "o3",
  "ozone": "o3", "co": "co", "nh3": "nh3"}[compact];
def field_word: "(^|\\|)(pm|no2|so2|o3|co|nh3|nox?|ozone|id|name|city|country|value|val|min|max|avg|us|cn|eu|lat|lon|lng|data|attributes|weather|air|pollut|main|before|after|(new|old)[a-z]*|full[a-z]*|"
  + "current|location|station|site|place|meta|message|msg|body|params|result|event|reading|propert|tags|object|components|units?|type|hourly|daily|context|records|rows|values|items|response|header|"
  + "category|measure|version|[a-z]|wind|rh|rssi|snr|battery|forecast|pub|push|connect|info|details|update|sensor|device|deviceinfo|uplinkmessage|decoded|datastream|thing|stream|metric|coord|position|"
  + "request|auth|error|feed|self|report|[a-z]{2,4}[0-9]{3,5})s?(\\||$)|aqi|^pm|temp|humid|index|time|press|count|voc|quality|payload|state|status|fields";

# 2. Leaves.
def iterates: type == "object" and (has("n") | not);
def is_map: type == "object" and has("map");
def members: keys_unsorted[0:60] | map(select(utf8bytelength < 200));
def alike($a; $b): ($a | type) == ($b | type) and (($a | members) as $k | any($b | members[]; . as $x | $k | index([$x]) != null)
  or ([$a, $b | .[keys_unsorted[0:3][]] | type] | unique | IN(["object"], ["number"])));
def map_keys: members as $k | . as $o | [$k[] | select($o[.] | type == "object")] as $objects
  | (if ($objects | length) > 1 then (if alike($o[$objects[0]]; $o[$objects[1]]) and all($k[]; $o[.] | type | IN("array") | not) then $objects else [] end)
     elif ($objects | length) == 1 and ($k | length) == 1 then (if $o[$k[0]] | [members[] | ascii_downcase] | join("|") | test("name|city|station|site|location|id(\\||$)") then [] else $k end)
     elif ($k | length) > 1 and all($k[]; $o[.] | number != null) then $k else [] end)
  | if length > 0 and (.[0:8] | map(compact) | join("|") | test(field_word) | not) then . else [] end;
# What a text beside a value says that it measures: {"is": "index", a pollutant or "other", "path", "text", "ends": whether only its end}.
def tag: [([], ["attributes"], ["a"], ["metric"], ["parameter"], ["ObservedProperty"], ["Datastream", "ObservedProperty"]) as $at | (try getpath($at) catch null) | objects
    | members[] as $k | .[$k] | strings | . as $text | {parameter: 2, parametername: 2, param: 2, pollutant: 2, deviceclass: 2, quantity: 2, measure: 2, valuetype: 2, unit: 2, unitofmeasurement: 2,
      path: 2, variable: 2, topic: 2, metric: 1, property: 1, name: 1, type: 1, kind: 1, event: 1, key: 1, code: 1, id: 1, sensor: 1, species: 1, entityid: 1, channel: 1}[$k | ltrimstr("__") | compact] as $kind | select($kind) | ($text | .[-24:] | split("/") | last) as $tail
    | if says_index or (. == "index" and $k == "unit") then {is: "index"} elif pollutant then {is: pollutant} elif ($text | contains("/") | not) then select($kind == 2) | {is: "other"}
      elif $tail | says_index then {is: "index", ends: "/\($tail)"} elif $tail | pollutant then {is: ($tail | pollutant), ends: "/\($tail)"} else select($kind == 2) | {is: "other"} end
    | .path = $at + [$k] | .text = $text]
  | (map(select(.is == "index"))[0]) as $index | (map(select(.is | IN("index", "other") | not))[0]) as $pollutant
  | if $index and $pollutant then {is: "other"} else $index // $pollutant // .[0] end;
def leaves($path; $only): def rows($path; $labels; $only): . as $row | range(0; [length, 60] | min) as $i | $row[$i] | leaves($path + [{each: true}, {n: $i, label: ($labels | if . then .[$i] else null end)}]; $only);
  if ($path | length) > 16 then empty
  elif type == "object" then map_keys as $map | . as $o | ([$path[] | strings] | last // "") as $subject
    | ([.[members[]] | arrays | select(length > 1 and length < 60) | map(if type == "object" then (.name? // .id?) else . end) | select(all(.[]; type == "string"))] | first) as $legend
    | (if any(members[]; . as $k | ($k | ascii_downcase | value_like) and ($o[$k] | number // (arrays | .[1]? | number)) != null)
          and ($subject | (says_index or pollutant or test("aqi|air_?quality"; "i")) | not) then tag else null end) as $tag
    |         ($map[0:20][] as $k | {map: (if $o[$k] | type == "object" then "object" elif all($map[0:8][]; test("^(\\p{Lu}\\p{Ll}|\\p{Lo})")) then "names" else "words" end)} as $step | ({p: ($path + [$step, "key"]), v: $k, if: $only}), ($o[$k] | leaves($path + [$step, "value"]; $only))),
        (members - $map)[] as $k | $o[$k]
        | if $tag and ($k | ascii_downcase | value_like) then (if $tag.is == "other" then empty else leaves($path + [$k]; $tag + {at: ($path | length)}) end)
          elif $legend and type == "array" and (.[0] | type == "array" and length == ($legend | length)) then
            .[0:20][] | arrays | rows($path + [$k]; $legend; $only)
          else leaves($path + [$k]; $only) end
  elif type == "array" then (.[0:20] | map(type) | unique) as $types
    | if $types == ["object"] or ($types == ["string"] and (.[0] | startswith("[") or startswith("{"))) then .[0:20][] | leaves($path + [{each: true}]; $only)
      elif $types == ["array"] then (.[0] | if length > 1 and all(.[]; type == "string" and number == null) then . else null end) as $head
        | .[if $head then 1 else 0 end:20][] | rows($path; $head; $only)
      else . as $a | range(0; [length, 12] | min) as $i | $a[$i] | leaves($path + [{n: $i}]; $only) end
  elif type == "string" and utf8bytelength < 500000 and (startswith("[") or startswith("{")) then . as $text
    | (try fromjson catch null) | if . == null then {p: $path, v: $text[0:200], if: $only} else leaves($path + [{json: true}]; $only) end
  else {p: $path, v: (if type == "string" then .[0:200] else . end), if: $only} end;
# A text that is no JSON: JSON behind a prefix (Socket.IO, SockJS, STOMP, NATS, server-sent events), a topic and a value, pairs, columns.
def text_leaves($header): .[0:2000] as $start
  | ($start | [split("[")[0], split("{")[0] | length] | min) as $i | .[$i:$i + 1] as $c
  | (if $c == "" or utf8bytelength > 2000000 then null else (try (.[$i:] | rtrimstr("\u0000") | fromjson) catch null) end) as $json
  | if $json != null and ($start[0:$i] | test("^[^ \n]*/[^ \n]* $")) then {topic: $start[0:$i - 1], payload: $json} | leaves([{line: true}]; null)
    elif $json != null then ((if $start[0:$i] | test("^(42.*|a)$") then {cut: $c, start: $start[0:$i]} else {cut: $c, nul: endswith("\u0000")} end) as $step | $json | leaves([$step]; null))
    elif $start | test("^[^ \n]*/[^ \n]* -?[0-9.]+\\s*$") then $start | split(" ") | {topic: .[0], payload: .[1] | number} | leaves([{line: true}]; null)
    elif $start[0:400] | test("\\w=[^,]+.*\\w=") then ([$start | scan("([\\w.]+)=([^, \n]+)") | {(.[0]): .[1]}] | add | leaves([{pairs: true}]; null))
    elif ($header.names and ($start | contains($header.by))) or ($start[0:100] | test("^[\\p{L}][^,:=]{0,60}, *-?[0-9.]+(\n|$)")) then
      $start | split("\n")[0:20][] | split($header.by) | select($header.names == null or (length == ($header.names | length) and . != $header.names)) | . as $row | range(0; [length, 40] | min) as $n
      | {p: [{split: $header.by}, {n: $n, label: ($header.names | if . then .[$n] else "" end)}], v: $row[$n]}
    else empty end;

# 3. Groups: what the last words of a path say.
def labels: . as $p | [range(0; length) as $i | $p[$i] | if type == "string" then (if $i > 0 and ($p[$i - 1] | is_map) then empty else . end)
  elif has("n") then .label // "" else empty end];
def group($words): .[0] as $one | ($one.p | labels | map($words[.] // "")) as $l | (map(.v) | .[0:60]) as $v
  | {p: $one.p, if: $one.if, l: $l, v: $v, m: (map(.m) | unique), last: ($l[-1] // ""), before: ($l[-2] // ""), n: [$v[] | number | numbers],
     root: ([range(0; $one.p | length) as $i | $one.p[$i] | select(iterates) | $i + 1] | last // 0)}
  | .texts = [$v[] | strings | select(number == null)]
  | .subject = (if (.last | value_like) or (.last | test("^(us|usa|us epa|epa|eu|in|india|cn|china|index|overall|total|number (int|long|double|decimal)|)$")) then "\(.before) \(.last)" else .last end);
# An index is under a name that says so, 9; of one pollutant, 5; else the only number beside a name, 3. "AQI 301" is a number with words.
def index_score:
  (.texts | map(select(ascii_downcase | test("^(n\\.?/?[ad]\\.?|nd|null|none|nan|unknown|unavailable|no data|offline|[-–—]*)$") | not))) as $mixed
  | .mixed = ($mixed != [] and all($mixed[]; test("^[^0-9]{0,20}[0-9]{1,4}([.][0-9]+)?([^0-9.,].*)?$")) and ((.subject | index_word or test("air ?quality")) or all($mixed[]; test("aqi"; "i"))))
  | if .mixed then .n += [$mixed[] | capture("(?<n>[0-9]+([.][0-9]+)?)").n | tonumber] else . end
  | .score = (if (.n | length) == 0 or ($mixed != [] and (.mixed | not)) or any(.n[]; . < 0 or . > 9999) or any(.l[]; not_now) or (.p[-1] == "key") then 0
    elif .if then (if .if.is == "index" then 9 else 0 end)
    elif .subject | no_index then 0
    elif .mixed and (.subject | index_word | not) then 6 elif .subject | index_word then (if any(.l[]; pollutant_word) then 5 elif .subject | test("cn|china") then 8 elif .subject | word("us|aqius|epa") then 8.9 else 9 end)
    elif (.last | test("^(index|air ?quality|pollution( index)?|quality( index)?|us|value|val|v|reading|)$")) and (.p[-2] | type == "object" and .map == "words" | not) and any(.n[]; . > 10) and all(.n[]; . <= 1000) and (any(.l[]; pollutant_word or other_word) | not) then (if .last == "us" or any(.l[]; test("air|pollution")) then 4 else 3 end)
    else 0 end);
# A name is under a name that says so: a city before a station, a station before a region, a device before its identifier.
def name_score: (if .last | IN("value", "v", "text") then [.before, .l[-3] // ""] else [.last, .before] end) as [$last, $before]
  | if .p[-1] == "key" and (.p[-2] | is_map) then (if .texts | unique | length > 1 then 7 else 3.5 end)
    elif "\($last) \($before)" | no_name and ($last | test("(^| )(city|station|site|location)( name)?$|^(sensor|station|site|device) index$") | not) then 0
    elif $last | test("^(name|title|label|en)$") and ($before | test("(^| )(\(city_word)|\(site_word)|\(thing_word))( name)?$")) then (if $before | word(thing_word) then 7.7 else 8.4 end)
    else first(([9, "^(\(city_word))( name)?( en)?$"], [8.5, "^(\(site_word))( name| title| label)?( en)?$|(^| )(\(city_word)|\(site_word)) ?name( en)?$"],
        [7.5, "^(friendly |display |full |local )?(name|title|label)( en)?$"], [7.2, "^(region|area|district|zone|county|ward|province|reporting area)( name)?$"],
        [6, "^(\(thing_word))$|(^| )(\(thing_word)) ?name$"], [4, "(^| )(\(thing_word)|station|site|location|uid) ?(id|index|no|number|code)?$"], [3.8, "serial|(^| )(mac|eui|uid)$|eui$|^entity id$"],
        [3.6, "^(topic|channel|subject|path|routing key|p)$"], [3, "^(id|code|key)$"], [5, "^$"])
      | select(.[1] as $r | $last | test($r)) | .[0]) // 0 end
  | if . == 3 and ($before | test("^(\(city_word)|\(site_word)|\(thing_word))$")) then 4.1 else . end;
def names: name_score as $score | (.texts | unique | .[0:12]) as $texts
  | if $score == 0 or (.if and .root == 0 and $score == 3) then empty
    elif $score == 3.6 then
      [.texts[] | select(test("/.")) | split("/")] as $parts
      | if $parts == [] then select(all($texts[]; no_text | not)) | .score = 2.9
        else ([range(0; $parts[0] | length) as $i | select(all($parts[]; .[$i] | . != null and . != "" and (compact | test(field_word + "|^(air|sensors|tele|stat|stations?|spbv10|[dn]data|[a-z]*aqi|cities|json|status|v[0-9]+|\\$.*)$") | not))) | $i]
            | sort_by(. as $i | [($parts | map(.[$i]) | unique | length), $i]) | last) as $i | select($i != null) | .score = 3.6 | .part = $i | .m = [.m[]] end
    elif ($texts | length) > 0 then select($score > 4.1 or all($texts[]; test("aqi|air.?quality|pm.?[12]"; "i") | not)) | select($score == 7 or all($texts[]; no_text | not)) | .score = $score
      | if (.m | length) < 2 and .root > 0 and (.texts | length) > ($texts | length) and ($texts | length) < 12 then .score -= 3 else . end
    elif $score <= 4.1 and (.n | length) > 0 and all(.n[]; . == floor) and ($score > 3 or .root > 0) then .score = $score
    else empty end;
def time_score: (if .last | IN("value", "v") then .last = .before else . end) | if any(.l[]; not_now) or (.last | word("zone|id|interval|offset|name|ms|duration|uptime|local")) then 0
  elif (.last | word("measured.*|.*observ.*|time|times?tamp|ts|datetime|date|dt|at|updated?|recorded|iso|utc|epoch|changed|seen|fecha|data"))
    and all(.v[] | values; (strings | test("^\\d{4}-?\\d\\d-?\\d\\d[T ]?\\d\\d:?\\d\\d|^\\d\\d[-.]\\d\\d[-.]\\d{4} \\d|^\\w{3}, \\d\\d|^\\d{10,16}$")) // (numbers | . > 946684800 and . < 1e17) // false)
  then (if .last | test("measured|observ|iso|record") then 3 elif .last | test("receiv|publish|updat|process|fired") then 1 else 2 end) else 0 end;
def concentration: if .if then .if.is | select(. != "index")
  elif any(.l[]; index_word or test("sub|index|count") or not_now) then empty
  else (.subject | gsub("( (value|val|v|atm|alt|u?gm3|[uµμ]g m[3³]|conc|concentration|mass|avg|mean|current|now|state|latest|last|cf 1|hourly))+$"; "")) as $s
    | $s | ltrimstr("sds ") | pollutant // empty end;

# 4. Text of a path: as a jq filter, and as a JSON Pointer.
def dot: if type == "object" then "[\(.n)]" elif test("^[A-Za-z_][A-Za-z0-9_]*$") then ".\(.)" else "[\(tojson)]" end;
def path: map(dot) | join("") | if startswith(".") then . else "." + . end;
def pointer: map("/" + if type == "string" then split("~") | join("~0") | split("/") | join("~1") else "\(.n)" end) | join("");
def field: if length == 1 and (.[0] | type == "string" and test("^[^/.]+$")) then .[0] else pointer end;
def step: if .map == "object" then "objects | to_entries[] | select(.value | objects)" elif .map then "objects | to_entries[]" elif .json then "fromjson?"
  elif .start then "strings | select(startswith(\("\(.start)\(.cut)" | tojson))) | .[\(.start | length):] | fromjson?"
  elif .cut then "strings | .[(split(\(.cut | tojson))[0] | length):]\(if .nul then " | rtrimstr(\"\\u0000\")" else "" end) | fromjson?"
  elif .line then "strings | split(\" \") | {topic: .[0], payload: (.[1:] | join(\" \") | fromjson?)}"
  elif .pairs then "strings | [scan(\"([\\\\w.]+)=([^, \\n]+)\") | {(.[0]): .[1]}] | add" else "strings | split(\"\\n\")[] | split(\(.split | tojson))" end;
def code: reduce .[] as $s ({text: "", open: false}; ($s | if type == "string" or has("n") then dot elif .each then "[]?" else null end) as $x
    | if $x and .open then .text += $x
      else .text += (if .text == "" then "" else " | " end) + (if $x == null then $s | step elif $x | startswith("[") then "." + $x else $x end) | .open = ($x != null) end) | .text;

# 5. Candidates.
def common($q): . as $p | first(range(0; [($p | length), ($q | length)] | min) | select($p[.] != $q[.])) // ([($p | length), ($q | length)] | min);
# The best group that can be read beside $g: the iterations on its own way are on that of $g too; near is better than far, and inside than outside.
def nearest($g; $groups): [$groups[] | select(.p != $g.p) | (.p | common($g.p)) as $c | select(.root <= $c and (.last != "" or .p[-1] == "key" or .p[:-1] == $g.p[:-1]))
    | select(.score == 3 and $g.if | not) | .score += 0.3 * $c - 0.1 * (.p | length) - 2 * ([$g.p[.root:$g.root][] | objects | select(.each or .map)] | length)] | max_by(.score);
def candidate($by; $computed): . as $g
  | nearest($g; if .score == 3 then [$by.names[] | select(.score > 7.9 or .last == "")] else $by.names end) as $name | select($name) | nearest($g; $by.times) as $time | nearest($g; $by.latitudes) as $lat | nearest($g; $by.longitudes) as $lon | nearest($g; $by.points) as $point
  | ([$by.concentrations[] | select(.root == $g.root and (.p | common($g.p)) >= $g.root and (.if == $g.if or .if == null))] | group_by(.pollutant) | map(min_by(.p | tojson | length))) as $pollutants
  | [$name, $time, (if $point then $point else $lat, $lon end) | values] as $others
  | (if $g.if then $g.if.at else [([$g, $others[], $pollutants[]][] | select(.root == $g.root) | (.p | length - 1), (.p | common($g.p)))] | [min, $g.root] | max end) as $at
  | ([$others[] | select((.p | common($g.p)) < $at) | .root] | unique) as $outer | $g.p[:$at] as $way
  | def variable: . as $r | "$o\($outer | index([$r]))";
    def ref: (if (.p | common($g.p)) >= $at then .p[$at:] | path else "\(.root | variable)\(.p[.root:] | path | if startswith(".[") then .[1:] else . end)" end);
    def text: ref as $r | if .part then "(\($r) | split(\"/\")[\(.part)])" elif .mixed then "(\($r) | capture(\"(?<n>[0-9]+([.][0-9]+)?)\").n)" else $r end;
    def real: ref as $r | if any(.v[]; type == "string") then "(\($r) | tonumber? // null)" else $r end;
  select(any([$g, $others[], $pollutants[]][].p[] | strings // .label? // .cut? // ""; test("[\\x00-\\x1f\\x7f-\\x9f]")) | not)
  | ($by.total > ($g.m | length)) as $partly
  | (($by.types | length) > 1 or any($by.all[]; (.p | length) <= $at and .p == $way[:(.p | length)] and any(.v[]; . != null))) as $clash
  | ($pollutants | map(.p[:-1]) | unique) as $parents
  | (if $parents == [] then null elif ($parents | length) == 1 and ($parents[0] | length) > $at and all($pollutants[].p[-1]; strings | pollutant) then $parents[0] else false end) as $object
  | (if $point then $point.p elif ($lat and $lon) | not then null elif $lat.p[:-1] == $lon.p[:-1] and ($lat.p | length) > $at + 1 and ($lat.p[-1] | type == "string") then $lat.p[:-1] else false end) as $spot
  | {score: ($g.score + 0.5 * $name.score - (if ($computed | not) and all($g.n[]; . <= 10) and any($pollutants[]; .pollutant == "pm2_5" and any(.n[]; . > 12)) then 6 else 0 end)),
     m: $g.m, kind: $g.score, index: ($g.p | map(strings // .label?) | last // ""), n: $g.n, $computed}
  + (if $computed then {} elif any($g.l[]; word("usa?|epa|aqius|usaqi")) then {scale: "us"} elif any($g.l[]; word("european|eu|eaqi")) then {scale: "eu"} else {} end)
  + (($computed or $g.if or $g.mixed or $outer != [] or $name.part or $object == false or $spot == false or ($at == 0 and $partly) or any($way[:-1][], ($way[-1:][] | select(type != "object" or (.each | not))); iterates)) as $needs
    | (reduce ($outer + [$at])[] as $r ({t: [], from: 0}; .t += [($g.p[.from:$r] | code), (if $r < $at then ". as \($r | variable)" else empty end)] | .from = $r)
        | .t + (if $g.if then [if $g.if.ends then "select(\($g.if.path | path) | endswith(\($g.if.ends | tojson)))" else "select(\($g.if.path | path) == \($g.if.text | tojson))" end] else [] end)
        + (if $partly and ($way[-1:][0] | iterates and .each) then [if $g.p[$at] | type == "object" then "arrays" else "objects" end] else [] end)
        + (if $g.root > 0 and ($g.p[$g.root - 1] | has("split")) then ["select(\($g | ref) | tonumber?)"] else [] end)
        + ["{" + ([ "city: \($name | text)", (if $computed then empty else "aqi: \($g | text)" end), (if $time then "time: \($time | ref)" else empty end),
            (if $pollutants == [] then empty else "pollutants: {\($pollutants | map("\(.pollutant): \(real)") | join(", "))}" end),
            (if $point then "place: \($point | ref)" elif $lat and $lon then "place: {latitude: \($lat | ref), longitude: \($lon | ref)}" else empty end)] | join(", ")) + "}"]
        + (if $computed then [".aqi = (.pollutants | india_aqi)"] elif $partly then ["select(.aqi)"] else [] end)
        | map(select(. != "")) | join(" | ")) as $t | {jq: (if $clash then "(\($t))?" else $t end)}
    + if $needs then {} else def flag($name; $p; $default): ($p | if . then field else $default end) | select(. != $default) | {("feed." + $name): .};
      {flags: ([flag("items"; $way | map(select(iterates | not)) | if . == [] then null else . end; ""), flag("city-field"; $name.p[$at:]; "city"), flag("value-field"; $g.p[$at:]; "aqi"),
        flag("time-field"; $time | if . then .p[$at:] else null end; "time"), flag("pollutants-field"; $object | if . then .[$at:] else null end; "pollutants"),
        flag("place-field"; $spot | if . then .[$at:] else null end; "place")] | add // {} | if has("feed.items") then .["feed.items"] = ($way | map(select(iterates | not)) | pointer) else . end)} end);
def cautions: [if .computed then "the index is computed from momentary concentrations, which are taken as µg/m³" else empty end,
  if (.computed | not) and all(.n[]; . <= 10) then "no value is above 10: perhaps the number of a category" else empty end,
  if .kind == 5 then "the index of one pollutant" elif .kind < 5 and (.computed | not) then "no member's name says that this is an index" else empty end,
  if .others == [] then empty else "other indexes beside it: \(.others | join(", "))" end];

# 6. Protocols, by how a first message looks, and what they wait for. An object looks like "{type:auth_required ha_version:2026.11 data:object".
def look: if type == "string" then .[0:100] elif type == "array" then "[" + (.[0:4] | map(if type | IN("object", "array") then type else tostring | .[0:40] end) | join(","))
  elif type == "object" then . as $o | "{" + ([members[] | . as $k | $o[$k] | "\($k):\(if type | IN("object", "array") then type else tostring | .[0:40] end)"] | join(" ")) else "" end;
def protocol: look as $look | first((["Socket.IO", "reply", "^(0\\{\"sid\"|4[02]([\\[/{]|$))"], ["SockJS", "subscription", "^([oh]$|a\\[\"|Welcome to SockJS)"], ["STOMP", "subscription", "^(CONNECTED|MESSAGE|ERROR|RECEIPT)\r?\n"],
    ["NATS", "reply", "^(INFO \\{|MSG |\\+OK|PING\r?\n|-ERR)"], ["Server-sent events", null, "^(data|event|id|retry): ?"], ["WAMP", "reply", "^\\[([0-4],[^,]*,object|36,)"], ["Phoenix", "reply", "^\\[.*,phx_|[{ ]event:phx_reply"],
    ["Home Assistant", "password", "[{ ]type:auth_"], ["GraphQL", "subscription", "[{ ]type:(connection_ack|connection_error|ka|start_ack)( |$)"], ["Pusher", "subscription", "[{ ]event:pusher"],
    ["Action Cable", "subscription", "[{ ]type:(welcome|confirm_subscription|reject_subscription)( |$)"], ["Centrifugo", "subscription", "[{ ](connect|push):object"], ["Signal K", "subscription", "[{ ]self:vessels"],
    ["ntfy", null, "[{ ]event:(open|keepalive)( |$)"], ["Directus", "password", "[{ ]type:auth( |$)"], ["Vert.x", "subscription", "[{ ]type:(rec|err)( |$)"],
    ["SignalR", "reply", "^\\{$|[{ ]type:6( |$)"], ["MQTT", "subscription", "^\\{binary:(IA|M)"], ["MessagePack", null, "^\\{binary:([g-n]|3[A-Z])"], ["binary", null, "^\\{binary:"]) | select(.[2] as $r | $look | test($r)));

. as $messages | length as $total
| [range(0; $total; $total / 60 | ceil)] as $sample
| (first($messages[0:60][] | strings | .[0:2000] | split("\n")[0] | . as $line | (",", ";", "\t", "|") as $by | ($line | split($by) | map(ltrimstr(" "))) | select(length > 1 and length < 40 and all(.[]; length < 40 and test("^[\\p{L}_]"))) | {by: $by, names: .}) // {by: ","}) as $header
| [limit(3000; $sample[] as $i | limit(([80, 3000 / ($sample | length)] | max | floor); $messages[$i] | if type == "string" then text_leaves($header) else leaves([]; null) end) | .m = $i)] as $leaves
| (reduce ([$leaves[].p | labels[]] | unique[0:400][]) as $l ({}; .[$l] = ($l | words))) as $words
| [$leaves | group_by([.p, .if] | tojson) | .[0:250][] | group($words) | index_score] as $all | [$all[] | select(.n != [])] as $numbers
| {total: ($sample | length), types: ([$messages[$sample[]] | type] | unique), $all, names: [$all[] | names], times: [$all[] | .score = time_score | select(.score > 0)],
   concentrations: [$numbers[] | concentration as $c | .pollutant = $c | select(any(.n[]; . >= 0 and . < 100000))],
   latitudes: [$numbers[] | select((.last | IN("lat", "latitude")) or .p[-2:] == ["geo", {n: 0}]) | .last = "lat"],
   longitudes: [$numbers[] | select((.last | IN("lon", "lng", "long", "longitude")) or .p[-2:] == ["geo", {n: 1}]) | .last = "lon"],
   points: [$numbers[] | select(.p[-2:] == ["coordinates", {n: 0}]) | .p |= .[:-2] | .last = "point"]} as $by
| [$all[] | select(.score > 0) | . as $g | select(.score > 4 or (([$all[] | select((.score | IN(3, 4)) and .p[:-1] == $g.p[:-1])] | length) == 1
    and all($all[]; (.last | word("param|parameter|units?|pollutant|quantity|metric|device class|value type|species|property") | not) or (.p | common($g.p) + 1 < length)))) | candidate($by; false)]
| . + (if any(.[]; .kind >= 5 and .score > 5) then [] else [$by.concentrations[] | select(.pollutant == "pm2_5") | .score = 4 | candidate($by; true)] end)
# One program that comes from two groups (a list and a single object) reads the messages of both.
| group_by(.flags // .jq | tojson) | map((map(.m[]) | unique) as $m | max_by(.score) | .m = $m | .score += 4 * ($m | length) / $by.total) | sort_by(-.score)
| .[0] as $best | (first(.[] | select(.kind > 4 and .m - $best.m == .m and .score + 6 > $best.score)) // null) as $second
| if $second and $best.kind >= 4 then [$best + {jq: "(\($best.jq))?, (\($second.jq))?", m: ($best.m + $second.m | unique), flags: null}] + . else . end
| . as $candidates | ([$messages[0:5][] | protocol] | first) as $protocol
| {candidates: [.[0:3][] | . as $c | (if .flags then {flags} else {jq} end) + {reads: (.m | length), of: $by.total, index} + (if .scale then {scale} else {} end)
     + {cautions: (.others = ([$candidates[] | select(.kind >= 8 and $c.kind >= 8 and .index != $c.index and (.m - $c.m | length) < (.m | length)) | .index] | unique) | cautions)}],
   missing: (if $candidates != [] then [] else [if $by.names == [] or any($all[]; .score > 0) then "name" else empty end, if any($all[]; .score > 0) then empty else "index" end] end),
   fields: (if $candidates != [] then [] else [$all[0:40][] | select(any(.v[]; . != null)) | {path: (.p | code), example: (first(.v[] | values) | if type == "string" then .[0:60] else . end)}] end),
   protocol: ($protocol | if . then {name: .[0], section: .[0]} else null end),
   wants: (if $candidates != [] then null elif any(($messages[0:5][] | strings), ($leaves[0:100][].v | strings); .[0:200] | test("auth_required|unauthori[sz]ed|invalid.{0,12}token|password|forbidden|credential"; "i")) then "password"
     elif $protocol then $protocol[1] elif $total == 0 then "text" else null end)}
