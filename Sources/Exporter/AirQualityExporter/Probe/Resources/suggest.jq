# Proposes how to read a feed: from the messages that a server has sent to at most three candidates, best first. `probe` runs each.
#
# Input: an array of messages; one that is no JSON is a string, one that is not UTF-8 {"binary": base64 of its first 64 bytes}.
# Output: {"candidates": [{"flags": {"feed.city-field": "name", …} or "jq": PROGRAM, "scale": "us"?, "reads": messages that it reads,
#     "of": messages looked at, "index": the member, "cautions": [TEXT, …]}], "missing": ["name", "index"], "fields": [{"path", "example"}],
#   "protocol": {"name", "section" of FEEDS.md, "wants"} or null, "wants": "password", "subscription", "reply", "text" or null}.
#
# How: every message is taken apart into leaves. The path of a leaf has a string for a member and {"n": 2} for a position; the other steps
# are iterations: {"each"} member of an array, {"map"} entry of an object whose keys are names, {"json"} a text that holds JSON, {"cut"}
# JSON behind a prefix, {"line"} a topic before a value, {"pairs"} key=value, {"split"} columns, {"columns"} an array for each member.
# Leaves of one path, of whatever message, are a group. A candidate is a group that is an index, the best name beside or outside it, and
# time, pollutants and place from there. Bounds: 60 messages, 3,000 leaves, 250 groups, 20 members of an array, 60 of an object.

# 1. Words. A member's name is split into lower-case words: "stationName" and "station_name" are "station name".
def words: .[0:48] | gsub("(?<a>[a-z0-9])(?<b>[A-Z])"; "\(.a) \(.b)") | ascii_downcase | gsub("[^\\p{L}\\p{N}]+"; " ") | ltrimstr(" ") | rtrimstr(" ");
def compact: .[0:48] | ascii_downcase | split("_") | join("") | split(" ") | join("") | split("-") | join("") | split(".") | join("");
def index_word: "aqi|(^| )(iqar?|ica|imeca|psi|khai|aqhi|lqi|ispu)( |$)|^api$|air ?quality ?(ind|val)|luftqualit.*index|indice.*(aire?|qualit)";
def no_index: "(^| )(cat|category|level|class|grade|bucket|band|rank|ranking|id|idx|count|colou?r|units?|status|trend|change|delta|accuracy|scale|version|max|min|"
  + "maximum|minimum|limit|target|alarm|pressure|pollutant|dominant|main|standard|time|ts|code|sub|station|sensor|severity)( |$)";
def not_now: "(^| )(forecasts?|predict\\w*|yesterday|tomorrow|previous|prev|old|before|history|historic\\w*|thresholds?|limits?|breakpoints?)( |$)";
def pollutant_word: "(^| )(pm ?(2 ?5|10|02|1)|no ?2|so ?2|o ?3|ozone|co|nh ?3)( |$)";
def other_word: "temp|hum|pressure|wind|weather|noise|traffic|voc|battery|ping|count|uv|rain|coordinates|geo|offset|quality class";
def place_word: "city|town|municipality|ciudad|cidade|ville|commune|stadt|ort|comune|miasto|kommune|village";
def site_word: "station|sitename|location|place|site|estaci[oó]n|esta[cç][aã]o|estacao|stazione|stacja|reporting area|local authority|neighbou?rhood|monitor";
def thing_word: "device|sensor|node|thing|entity|geo|host";
def no_name: "(^| )(attributions?|pollutants?|parameters?|categor\\w+|source|provider|manufacturer|owner|country|user|operator|network|instrument|gateway\\w*|application|"
  + "tenant|unit|types?|[a-z]*aqi|index|indexes|indices|level|colou?r|file|profile|model|api|old state|observed property|event|message|request|session|client|server)( |$)";
# A text that is no name: a category, a colour, a unit, a number, a date, an address, no value.
def no_text: "^(good|satisfactory|moderate|poor|very.poor|severe|fair|low|medium|high|very.high|hazardous|(very.)?unhealthy.*|extremely.poor|bad|ok|online|offline|"
  + "unknown|unavailable|none|null|n/?a|[-–—]*|bon(ne)?|buena|boa|mala|regular|gut|schlecht|moyen|#[0-9a-f]{3,8}|(rgba?|hsl)\\(.*|[a-z]+://.*|[µμu]g/m.*|pp[bm]|"
  + "aqi|pm ?[0-9_.,]+|no2|so2|o3|co|nh3|ozone|true|false|[0-9.,:/ +-]+|\\d{4}-\\d\\d-\\d\\d.*|n[1-5] - .*)$";
def value_like: IN("value", "val", "v", "state", "s", "result", "payload", "current", "now", "latest", "last", "avg", "mean", "average", "reading");
def number: if type == "number" then . elif type == "string" and utf8bytelength < 24 then (try tonumber catch null) else null end;
def says_index: compact | IN("aqi", "usaqi", "aqius", "airqualityindex", "airquality", "europeanaqi", "caqi", "naqi", "iqa", "psi");
def pollutant: {"pm25": "pm2_5", "pm2,5": "pm2_5", "pm02": "pm2_5", "p2": "pm2_5", "pm10": "pm10", "p1": "pm10", "no2": "no2", "so2": "so2", "o3": "o3",
  "ozone": "o3", "co": "co", "nh3": "nh3"}[compact];
# Keys that are no names of places, so that the object is none whose keys are.
def field_word: "(^|\\|)(aqi|pm|no2|so2|o3|co|nh3|nox?|ozone|id|name|city|country|value|val|min|max|avg|us|cn|eu|lat|lon|lng|data|payload|attributes|weather|air|pollut|main|before|after|(new|old)[a-z]*|full[a-z]*|"
  + "current|location|station|site|place|meta|message|msg|body|params|result|event|reading|propert|fields|tags|object|components|iaqi|units?|type|hourly|daily|"
  + "context|records|rows|values|items|response|header|category|measure|version|x|y|z|[a-z]|wind|rh|rssi|snr|battery|forecast|pub|push|connect|info|details|update|"
  + "sensor|device|deviceinfo|uplinkmessage|decoded|datastream|thing|stream|metric|coord|position|request|auth|error|status|feed|self|report)s?(\\||$)|aqi|^pm|"
  + "temp|humid|index|time|press|count|voc|quality|(^|\\|)[a-z]{2,4}[0-9]{3,5}(\\||$)|payload|state|fields";

# 2. Leaves.
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
    | members[] as $k | .[$k] | strings | . as $text | ($k | compact) as $c
    | if $c | IN("parameter", "parametername", "param", "pollutant", "deviceclass", "quantity", "metric", "measure", "valuetype", "property", "name", "type", "kind", "event", "key",
          "code", "id", "sensor", "sensortype", "series", "variable", "field", "species", "unit", "unitofmeasurement", "path", "topic", "entityid", "subject", "channel") or $k == "__name__" then
        ($text | .[-24:] | split("/") | last) as $close
        | if says_index or ($c == "unit" and . == "index") then {is: "index"} elif pollutant then {is: pollutant}
          elif ($text | index("/")) and ($close | says_index) then {is: "index", ends: "/\($close)"} elif ($text | index("/")) and ($close | pollutant) then {is: ($close | pollutant), ends: "/\($close)"}
          elif $c | IN("parameter", "parametername", "param", "pollutant", "deviceclass", "quantity", "valuetype", "unit", "unitofmeasurement", "path", "variable", "topic", "measure") then {is: "other"}
          else empty end + {path: ($at + [$k]), text: $text}
      else empty end]
  | (map(select(.is == "index")) | first) as $index | (map(select(.is | IN("index", "other") | not)) | first) as $pollutant
  | if $index and $pollutant then {is: "other"} else $index // $pollutant // first end;
def leaves($path; $only): # $only: the condition of the leaf, a tag with the length of the path to its object
  if ($path | length) > 16 then empty
  elif type == "object" then map_keys as $map | . as $o | ([$path[] | strings] | last // "") as $subject
    | ([.[members[]] | arrays | select(length > 1 and length < 60) | map(if type == "object" then (.name? // .id?) else . end) | select(all(.[]; type == "string"))] | first) as $legend
    | (if any(members[]; . as $k | ($k | ascii_downcase | value_like) and ($o[$k] | number // (arrays | .[1]? | number)) != null)
          and ($subject | (says_index or pollutant or test("aqi|air_?quality"; "i")) | not) then tag else null end) as $tag
    | [members[] | select($o[.] | type == "array" and length > 1 and (.[0:20] | all(.[]; type | IN("string", "number", "null"))))] as $columns
    | if ($columns | length) > 1 and ([$columns[] | $o[.] | length] | unique | length) == 1 then
        range(0; $columns | length) as $i | $o[$columns[$i]][0:20][] | {p: ($path + [{columns: $columns}, {n: $i, label: $columns[$i]}]), v: ., if: $only}
      else
        ($map[0:20][] as $k | {map: (if $o[$k] | type == "object" then "object" elif all($map[0:8][]; test("^(\\p{Lu}\\p{Ll}|\\p{Lo})")) then "names" else "words" end)} as $step | ({p: ($path + [$step, "key"]), v: $k, if: $only}), ($o[$k] | leaves($path + [$step, "value"]; $only))),
        (members - $map)[] as $k | $o[$k]
        | if $tag and ($k | ascii_downcase | value_like) then (if $tag.is == "other" then empty else leaves($path + [$k]; $tag + {at: ($path | length)}) end)
          elif $legend and type == "array" and (.[0] | type == "array" and length == ($legend | length)) then
            .[0:20][] | arrays | . as $row | range(0; $legend | length) as $i | $row[$i] | leaves($path + [$k, {each: true}, {n: $i, label: $legend[$i]}]; $only)
          else leaves($path + [$k]; $only) end
      end
  elif type == "array" then (.[0:20] | map(type) | unique) as $types
    | if $types == ["object"] or ($types == ["string"] and (.[0] | startswith("[") or startswith("{"))) then .[0:20][] | leaves($path + [{each: true}]; $only)
      elif $types == ["array"] then (.[0] | if length > 1 and all(.[]; type == "string" and number == null) then . else null end) as $head
        | (if $head then .[1:20] else .[0:20] end)[] | . as $row | range(0; [length, 20] | min) as $i | $row[$i] | leaves($path + [{each: true}, {n: $i, label: ($head[$i]? // null)}]; $only)
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
def labels: . as $p | [range(0; length) as $i | $p[$i] | if type == "string" then (if $i > 0 and ($p[$i - 1] | type == "object" and .map) then empty else . end)
  elif has("n") then .label // "" else empty end];
def group($words): .[0] as $one | ($one.p | labels | map($words[.] // "")) as $l | (map(.v) | .[0:60]) as $v
  | {p: $one.p, if: $one.if, l: $l, v: $v, m: (map(.m) | unique), last: ($l[-1] // ""), before: ($l[-2] // ""), n: [$v[] | number | numbers],
     root: ([range(0; $one.p | length) as $i | $one.p[$i] | select(type == "object" and (has("n") | not)) | $i + 1] | last // 0)}
  | .texts = [$v[] | strings | select(number == null)]
  | .subject = (if (.last | value_like) or (.last | test("^(us|usa|us epa|epa|eu|in|india|cn|china|index|overall|total|number (int|long|double|decimal)|)$")) then "\(.before) \(.last)" else .last end);
# An index is under a name that says so, 9; of one pollutant, 5; else the only number beside a name, 3. "AQI 301" is a number with words.
def index_score:
  (.texts | map(select(ascii_downcase | test("^(n\\.?/?[ad]\\.?|nd|null|none|nan|unknown|unavailable|no data|offline|[-–—]*)$") | not))) as $mixed
  | .mixed = ($mixed != [] and all($mixed[]; test("^[^0-9]{0,20}[0-9]{1,4}([.][0-9]+)?([^0-9.,].*)?$")) and ((.subject | test(index_word + "|air ?quality")) or all($mixed[]; test("aqi"; "i"))))
  | if .mixed then .n += [$mixed[] | capture("(?<n>[0-9]+([.][0-9]+)?)").n | tonumber] else . end
  | .score = (if (.n | length) == 0 or ($mixed != [] and (.mixed | not)) or any(.n[]; . < 0 or . > 9999) or any(.l[]; test(not_now)) or (.p[-1] == "key") then 0
    elif .if then (if .if.is == "index" then 9 else 0 end)
    elif .subject | test(no_index) then 0
    elif .mixed and (.subject | test(index_word) | not) then 6
    elif .subject | test(index_word) then (if any(.l[]; test(pollutant_word)) then 5 elif .subject | test("cn|china") then 8 elif .subject | test("(^| )(us|aqius|epa)( |$)") then 8.9 else 9 end)
    elif (.last | test("^(index|air ?quality|pollution( index)?|quality( index)?|us|value|val|v|reading|)$")) and (.p[-2] | type == "object" and .map == "words" | not) and any(.n[]; . > 10) and all(.n[]; . <= 1000) and (any(.l[]; test(pollutant_word + "|" + other_word)) | not) then (if .last == "us" or any(.l[]; test("air|pollution")) then 4 else 3 end)
    else 0 end);
# A name is under a name that says so: a city before a station, a station before a region, a device before its identifier.
def name_score: (if .last | IN("value", "v", "text") then [.before, .l[-3] // ""] else [.last, .before] end) as [$last, $before]
  | if .p[-1] == "key" and (.p[-2] | type == "object" and .map) then (if .texts | unique | length > 1 then 7 else 3.5 end)
    elif "\($last)|\($before)" | gsub("\\|"; " ") | test(no_name) and ($last | test("(^| )(city|station|site|location)( name)?$|^(sensor|station|site|device) index$") | not) then 0
    elif ($last | test("^(name|title|label|en)$")) and ($before | test("(^| )(\(place_word)|\(site_word))( name)?$")) then 8.4
    elif ($last | test("^(name|title|label)$")) and ($before | test("^(\(thing_word))$")) then 7.7
    else first(([9, "^(\(place_word))( name)?( en)?$"], [8.5, "^(\(site_word))( name| title| label)?( en)?$|(^| )(\(place_word)|\(site_word)) ?name( en)?$"],
        [7.5, "^(friendly |display |full |local )?(name|title|label)( en)?$"], [7.2, "^(region|area|district|zone|county|ward|province|reporting area)( name)?$"],
        [6, "^(\(thing_word))$|(^| )(\(thing_word)) ?name$"], [4, "(^| )(\(thing_word)|station|site|location|uid) ?(id|index|no|number|code)?$"], [3.8, "serial|(^| )(mac|eui|uid)$|eui$|^entity id$"],
        [3.6, "^(topic|channel|subject|path|routing key|p)$"], [3, "^(id|code|key)$"], [5, "^$"])
      | select(.[1] as $r | $last | test($r)) | .[0]) // 0 end
  | if . == 3 and ($before | test("^(\(place_word)|\(site_word)|\(thing_word))$")) then 4.1 else . end;
def names: name_score as $score | (.texts | unique | .[0:12]) as $texts
  | if $score == 0 or (.if and .root == 0 and $score == 3) then empty
    elif $score == 3.6 then # a topic: the part that differs, else the last that is no word for something else
      [.texts[] | select(test("/.")) | split("/")] as $parts
      | if $parts == [] then select(all($texts[]; ascii_downcase | test(no_text) | not)) | .score = 2.9
        else ([range(0; $parts[0] | length) as $i | select(all($parts[]; .[$i] | . != null and . != "" and (compact | test(field_word + "|^(air|sensors|tele|stat|stations?|spbv10|[dn]data|[a-z]*aqi|cities|json|status|v[0-9]+|\\$.*)$") | not))) | $i]
            | sort_by(. as $i | [($parts | map(.[$i]) | unique | length), $i]) | last) as $i | select($i != null) | .score = 3.6 | .part = $i | .m = [.m[]] end
    elif ($texts | length) > 0 then select($score > 4.1 or all($texts[]; test("aqi|air.?quality|pm.?[12]"; "i") | not)) | select($score == 7 or all($texts[]; ascii_downcase | test(no_text) | not)) | .score = $score
      | if (.m | length) < 2 and .root > 0 and (.texts | length) > ($texts | length) and ($texts | length) < 12 then .score -= 3 else . end
    elif $score <= 4.1 and (.n | length) > 0 and all(.n[]; . == floor) and ($score > 3 or .root > 0) then .score = $score
    else empty end;
def time_score: (if .last | IN("value", "v") then .last = .before else . end) | if any(.l[]; test(not_now)) or (.last | test("(^| )(zone|id|interval|offset|name|ms|duration|uptime|local)( |$)")) then 0
  elif (.last | test("measured|observ|(^| )(time|times?tamp|ts|datetime|date|dt|at|updated|update|recorded|iso|utc|epoch|changed|seen|fecha|data)( |$)"))
    and all(.v[] | values; (strings | test("^\\d{4}-?\\d\\d-?\\d\\d[T ]?\\d\\d:?\\d\\d|^\\d\\d[-.]\\d\\d[-.]\\d{4} \\d|^\\w{3}, \\d\\d|^\\d{10,16}$")) // (numbers | . > 946684800 and . < 1e17) // false)
  then (if .last | test("measured|observ|iso|record") then 3 elif .last | test("receiv|publish|updat|process|fired") then 1 else 2 end) else 0 end;
def concentration: if .if then .if.is | select(. != "index")
  elif (.n | length) == 0 or any(.l[]; test(index_word + "|sub|index|iaqi|count") or test(not_now)) then empty
  else (.subject | gsub("( (value|val|v|atm|alt|u?gm3|[uµμ]g m[3³]|conc|concentration|mass|avg|mean|current|now|state|latest|last|cf 1|hourly))+$"; "")) as $s
    | first((["pm2_5", "^(sds )?(pm ?(2 ?5|02)|p2)$"], ["pm10", "^(sds )?(pm ?10|p1)$"], ["no2", "^no ?2$"], ["so2", "^so ?2$"], ["o3", "^(o ?3|ozone)$"], ["co", "^co$"], ["nh3", "^nh ?3$"])
      | select(.[1] as $r | $s | test($r)) | .[0]) end;

# 4. Text of a path: as a jq filter, and as a JSON Pointer.
def dot: if type == "object" then "[\(.n)]" elif test("^[A-Za-z_][A-Za-z0-9_]*$") then ".\(.)" else "[\(tojson)]" end;
def path: map(dot) | join("") | if startswith(".") then . else "." + . end;
def pointer: map("/" + if type == "string" then split("~") | join("~0") | split("/") | join("~1") else "\(.n)" end) | join("");
def field: if length == 1 and (.[0] | type == "string" and test("^[^/.]+$")) then .[0] else pointer end;
def step: if .map == "object" then "objects | to_entries[] | select(.value | objects)" elif .map then "objects | to_entries[]" elif .json then "fromjson?" elif .columns then "[\(.columns | map([.] | path) | join(", "))] | transpose[]"
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
  | def variable: . as $r | "$\("abcdefgh"[($outer | index([$r])):][0:1])";
    def ref: (if (.p | common($g.p)) >= $at then .p[$at:] | path else "\(.root | variable)\(.p[.root:] | path | if startswith(".[") then .[1:] else . end)" end)
    ;
    def text: ref as $r | if .part then "(\($r) | split(\"/\")[\(.part)])" elif .mixed then "(\($r) | capture(\"(?<n>[0-9]+([.][0-9]+)?)\").n)" else $r end;
    def real: ref as $r | if any(.v[]; type == "string") then "(\($r) | tonumber? // null)" else $r end;
  select(any([$g, $others[], $pollutants[]][].p[] | strings // .label? // .cut? // ""; test("[\\x00-\\x1f\\x7f-\\x9f]")) | not)
  | ($by.total > ($g.m | length)) as $partly
  | any($by.all[]; (.p | length) <= $at and .p == $way[:(.p | length)] and any(.v[]; . != null)) as $clash
  | ($pollutants | map(.p[:-1]) | unique) as $parents
  | (if $parents == [] then null elif ($parents | length) == 1 and ($parents[0] | length) > $at and all($pollutants[].p[-1]; strings | pollutant) then $parents[0] else false end) as $object
  | (if $point then $point.p elif ($lat and $lon) | not then null elif $lat.p[:-1] == $lon.p[:-1] and ($lat.p | length) > $at + 1 and ($lat.p[-1] | type == "string") then $lat.p[:-1] else false end) as $spot
  | {score: ($g.score + 0.5 * $name.score - (if ($computed | not) and all($g.n[]; . <= 10) and any($pollutants[]; .pollutant == "pm2_5" and any(.n[]; . > 12)) then 6 else 0 end)),
     m: $g.m, kind: $g.score, index: ($g.p | map(strings // .label?) | last // ""), n: $g.n, $computed}
  + (if $computed then {} elif any($g.l[]; test("(^| )(us|usa|us epa|epa|aqius|usaqi)( |$)")) then {scale: "us"} elif any($g.l[]; test("european|(^| )(eu|eaqi)( |$)")) then {scale: "eu"} else {} end)
  + (($computed or $g.if or $g.mixed or $outer != [] or $name.part or $object == false or $spot == false or ($at == 0 and $partly) or any($way[:-1][], ($way[-1:][] | select(type != "object" or (.each | not))); type == "object" and (has("n") | not))) as $needs
    | (reduce ($outer + [$at])[] as $r ({t: [], from: 0}; .t += [($g.p[.from:$r] | code), (if $r < $at then ". as \($r | variable)" else empty end)] | .from = $r)
        | (if $by.types == [] or ($g.p[0] | type == "object" and (has("n") or .each | not)) then [] elif $g.p[0] | type == "object" and (.each or has("n")) then ["arrays"] else ["objects"] end)
        + .t + (if $g.if then [if $g.if.ends then "select(\($g.if.path | path) | endswith(\($g.if.ends | tojson)))" else "select(\($g.if.path | path) == \($g.if.text | tojson))" end] else [] end)
        + (if $g.root > 0 and ($g.p[$g.root - 1] | has("split")) then ["select(\($g | ref) | tonumber?)"] else [] end)
        + ["{" + ([ "city: \($name | text)", (if $computed then empty else "aqi: \($g | text)" end), (if $time then "time: \($time | ref)" else empty end),
            (if $pollutants == [] then empty else "pollutants: {\($pollutants | map("\(.pollutant): \(real)") | join(", "))}" end),
            (if $point then "place: \($point | ref)" elif $lat and $lon then "place: {latitude: \($lat | ref), longitude: \($lon | ref)}" else empty end)] | join(", ")) + "}"]
        + (if $computed then [".aqi = (.pollutants | india_aqi)"] elif $partly then ["select(.aqi)"] else [] end)
        | map(select(. != "")) | join(" | ")) as $t | {jq: (if $clash then "(\($t))?" else $t end)}
    + if $needs then {} else {flags: ([["items", ($way | map(select(type == "string" or has("n"))) | pointer), ""], ["city-field", ($name.p[$at:] | field), "city"], ["value-field", ($g.p[$at:] | field), "aqi"],
        ["time-field", ($time | if . then .p[$at:] | field else "time" end), "time"], ["pollutants-field", ($object | if . then .[$at:] | field else "pollutants" end), "pollutants"],
        ["place-field", ($spot | if . then .[$at:] | field else "place" end), "place"]] | map(select(.[1] != .[2]) | {("feed." + .[0]): .[1]}) | add // {})} end);
def cautions: [if .computed then "the index is computed from momentary concentrations, which are taken as µg/m³" else empty end,
  if (.computed | not) and all(.n[]; . <= 10) then "no value is above 10: perhaps the number of a category" else empty end,
  if .kind == 5 then "the index of one pollutant" elif .kind < 5 and (.computed | not) then "no member's name says that this is an index" else empty end,
  if .others == [] then empty else "other indexes beside it: \(.others | join(", "))" end];

# 6. Protocols, by a first message, and what they wait for.
def protocol: if type == "string" then
    if startswith("0{\"sid\"") or test("^42[\\[/]|^40") then ["Socket.IO", "reply"] elif test("^(o|h)$|^a\\[\"|^Welcome to SockJS") then ["SockJS", "subscription"]
    elif test("^(CONNECTED|MESSAGE|ERROR|RECEIPT)\r?\n") then ["STOMP", "subscription"] elif test("^(INFO \\{|MSG |\\+OK|PING\r?\n|-ERR)") then ["NATS", "reply"]
    elif test("^(data|event|id|retry): ?") then ["Server-sent events", null] else empty end
  elif type == "array" then
    if (.[0] | IN(0, 2, 3, 4, 36)) and (.[2] | type == "object" and has("roles")) or (.[0] == 3 and (.[2] | strings | startswith("wamp."))) or .[0] == 36 then ["WAMP", "reply"]
    elif length == 5 and (.[3] | strings | startswith("phx_")) then ["Phoenix", "reply"] else empty end
  elif type == "object" then (.type? | strings // "") as $type | (.event? | strings // "") as $event
    | if $type | startswith("auth_") then ["Home Assistant", "password"] elif $type | IN("connection_ack", "connection_error", "ka", "start_ack") then ["GraphQL", "subscription"]
      elif $event | startswith("pusher") then ["Pusher", "subscription"] elif $type | IN("welcome", "confirm_subscription", "reject_subscription") then ["Action Cable", "subscription"]
      elif .connect?.client? or .push?.channel? then ["Centrifugo", "subscription"] elif .self? and .version? and .name? then ["Signal K", "subscription"]
      elif $event == "phx_reply" then ["Phoenix", "reply"] elif $event == "open" and .topic? then ["ntfy", null] elif .msg? == "connected" or .server_id? == "0" then ["Meteor DDP", "reply"]
      elif $type == "auth" or ($type == "subscription" and .event?) then ["Directus", "password"] elif $type | IN("rec", "err") then ["Vert.x", "subscription"]
      elif . == {} or .type? == 6 then ["SignalR", "reply"] elif .t? == "c" and .d?.t? == "h" then ["Firebase", "subscription"]
      elif .binary? | strings then .binary | if startswith("IA") or startswith("M") then ["MQTT", "subscription"] elif test("^([g-n]|3[A-Z])") then ["MessagePack", null] elif startswith("H4sI") then ["gzip", null]
        elif test("^[o-v]") then ["CBOR", null] else ["binary", null] end
      else empty end
  else empty end;

. as $messages | length as $total
| (if $total <= 60 then [range(0; $total)] else [range(0; 30)] + [range(0; 30) | 30 + (. * ($total - 30) / 30 | floor)] end) as $sample
| (first($messages[0:60][] | strings | .[0:2000] | split("\n")[0] | . as $line | (",", ";", "\t", "|") as $by | ($line | split($by) | map(ltrimstr(" "))) | select(length > 1 and length < 40 and all(.[]; length < 40 and test("^[\\p{L}_]"))) | {by: $by, names: .}) // {by: ","}) as $header
| [limit(3000; $sample[] as $i | limit(([80, 3000 / ($sample | length)] | max | floor); $messages[$i] | if type == "string" then text_leaves($header) else leaves([]; null) end) | .m = $i)] as $leaves
| (reduce ([$leaves[].p | labels[]] | unique[0:400][]) as $l ({}; .[$l] = ($l | words))) as $words
| [$leaves | group_by([.p, .if] | tojson) | .[0:250][] | group($words) | index_score] as $all
| {total: ($sample | length), types: ([$messages[$sample[]] | type] | unique | if length > 1 then . else [] end), $all, names: [$all[] | names], times: [$all[] | .score = time_score | select(.score > 0)],
   concentrations: [$all[] | concentration as $c | .pollutant = $c | select(any(.n[]; . >= 0 and . < 100000))],
   latitudes: [$all[] | select(((.last | test("^(lat|latitude)$")) or .p[-2:] == ["geo", {n: 0}]) and .n != []) | .last = "lat"],
   longitudes: [$all[] | select(((.last | test("^(lon|lng|long|longitude)$")) or .p[-2:] == ["geo", {n: 1}]) and .n != []) | .last = "lon"],
   points: [$all[] | select(.p[-2:] == ["coordinates", {n: 0}] and .n != []) | .p |= .[:-2] | .last = "point"]} as $by
| [$all[] | select(.score > 0) | . as $g | select(.score > 4 or (([$all[] | select((.score | IN(3, 4)) and .p[:-1] == $g.p[:-1])] | length) == 1
    and all($all[]; (.last | test("^(param|parameter|parameter name|units?|pollutant|quantity|metric|device class|value type|unit of measurement|species|property)$") | not) or (.p | common($g.p) + 1 < length)))) | candidate($by; false)] | . + (if any(.[]; .kind >= 5 and .score > 5) then [] else [$by.concentrations[] | select(.pollutant == "pm2_5") | .score = 4 | candidate($by; true)] end)
# One program that comes from two groups (a list and a single object) reads the messages of both.
| group_by(.flags // .jq | tojson) | map((map(.m[]) | unique) as $m | max_by(.score) | .m = $m | .score += 4 * ($m | length) / $by.total) | sort_by(-.score)
| .[0] as $best | (first(.[] | select(.kind > 4 and .m - $best.m == .m and .score + 6 > $best.score)) // null) as $second
| if $second and $best.kind >= 4 then [$best + {jq: "(\($best.jq))?, (\($second.jq))?", m: ($best.m + $second.m | unique), flags: null}] + . else . end
| . as $candidates | ([$messages[0:5][] | if type == "string" then .[0:100] else . end | protocol] | first) as $protocol
| {candidates: [.[0:3][] | . as $c | (if .flags then {flags} else {jq} end) + {reads: (.m | length), of: $by.total, index} + (if .scale then {scale} else {} end)
     + {cautions: (.others = ([$candidates[] | select(.kind >= 8 and $c.kind >= 8 and .index != $c.index and (.m - $c.m | length) < (.m | length)) | .index] | unique) | cautions)}],
   missing: (if $candidates != [] then [] else [if $by.names == [] or any($all[]; .score > 0) then "name" else empty end, if any($all[]; .score > 0) then empty else "index" end] end),
   fields: (if $candidates != [] then [] else [$all[0:40][] | select(any(.v[]; . != null)) | {path: (.p | code), example: (first(.v[] | values) | if type == "string" then .[0:60] else . end)}] end),
   protocol: ($protocol | if . then {name: .[0], section: .[0]} else null end),
   wants: (if $candidates != [] then null elif any(($messages[0:5][] | strings), ($leaves[0:100][].v | strings); .[0:200] | test("auth_required|unauthori[sz]ed|invalid.{0,12}token|login|password|forbidden|credential"; "i")) then "password"
     elif $protocol then $protocol[1] elif $total == 0 then "text" else null end)}
