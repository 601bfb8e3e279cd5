{{/*
The name of all objects, valid for every kind: a Service's name begins with a letter and has no dots, and the label that
a StatefulSet adds to its pods leaves 52 characters.
*/}}
{{- define "air-quality-exporter.name" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name | replace "." "-" }}
{{- if not (regexMatch "^[a-z]" $name) }}{{ $name = printf "air-%s" $name }}{{ end }}
{{- if gt (len $name) 52 }}{{ $name = printf "%s-%s" ($name | trunc 43 | trimSuffix "-") ($name | sha256sum | trunc 8) }}{{ end }}
{{- $name }}
{{- end }}

{{/* The label `job` of this release's metrics, unique in the cluster. */}}
{{- define "air-quality-exporter.job" -}}
{{ .Release.Namespace }}/{{ include "air-quality-exporter.name" . }}
{{- end }}

{{/* The labels of a program's objects: (list . "air-quality-feed"). */}}
{{- define "air-quality-exporter.labels" -}}
{{ include "air-quality-exporter.selector" . }}
{{- with index . 0 }}
app.kubernetes.io/part-of: air-quality-exporter
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* The labels that select a program's pods. */}}
{{- define "air-quality-exporter.selector" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
{{- end }}

{{/* The metadata of an object: (dict "root" $ "program" PROGRAM "name" NAME), optionally "labels", "annotations". */}}
{{- define "air-quality-exporter.metadata" -}}
{{- $labels := include "air-quality-exporter.labels" (list .root .program) | fromYaml }}
{{- $annotations := mergeOverwrite (dict) .root.Values.commonAnnotations (.annotations | default dict) -}}
name: {{ .name }}
labels: {{ mergeOverwrite $labels (.labels | default dict) | toYaml | nindent 2 }}
{{- with $annotations }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "air-quality-exporter.image" -}}
{{- with .Values.image }}
{{- $tag := .tag | default $.Chart.AppVersion -}}
image: {{ ternary (printf "%s@%s" .repository .digest) (printf "%s:%s" .repository $tag) (ne .digest "") | quote }}
{{- with .pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" if the values name a real feed, or a Secret that may name one. */}}
{{- define "air-quality-exporter.hasFeed" -}}
{{- $given := or .Values.feed.urls .Values.feed.list .Values.feed.poll.enabled .Values.existingSecret }}
{{- range list "feed.url" "feed.file" }}
{{- $given = or $given (hasKey $.Values.settings .) (hasKey $.Values.secrets .) }}
{{- end }}
{{- range .Values.extraEnv }}
{{- $given = or $given (has .name (list "AIR_QUALITY_EXPORTER_FEED_URL" "AIR_QUALITY_EXPORTER_FEED_FILE")) }}
{{- end }}
{{- range .Values.extraArgs }}
{{- $given = or $given (regexMatch "^--feed[.](url|file)(=|$)" .) }}
{{- end }}
{{- if $given }}true{{ end }}
{{- end }}

{{/* The value of a flag: whole numbers without an exponent, lists with one value per line. */}}
{{- define "air-quality-exporter.value" -}}
{{- if kindIs "slice" . }}
{{- range $place, $value := . }}{{ if $place }}{{ "\n" }}{{ end }}{{ include "air-quality-exporter.value" $value }}{{ end }}
{{- else if and (kindIs "float64" .) (eq . (floor .)) }}{{ printf "%.0f" . }}
{{- else }}{{ . }}
{{- end }}
{{- end }}

{{/* Flags as environment variables. */}}
{{- define "air-quality-exporter.variables" -}}
{{- range $flag, $value := . }}
{{ printf "AIR_QUALITY_EXPORTER_%s" ($flag | upper | replace "." "_" | replace "-" "_") }}: {{ include "air-quality-exporter.value" $value | quote }}
{{- end }}
{{- end }}

{{/* A probe; an httpGet without port and scheme gets the exporter's. */}}
{{- define "air-quality-exporter.probe" -}}
{{- $probe := deepCopy (index . 1) }}
{{- with $probe.httpGet }}
{{- $_ := set $probe "httpGet" (merge . (dict "port" "metrics" "scheme" (index $ 0).Values.probeScheme)) }}
{{- end }}
{{- toYaml $probe }}
{{- end }}

{{/* "true" if objects of the Prometheus Operator are wanted. */}}
{{- define "air-quality-exporter.operator" -}}
{{- $wanted := toString (index . 1) }}
{{- if eq $wanted "auto" }}
{{- if (index . 0).Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}true{{ end }}
{{- else if eq $wanted "true" }}true{{ end }}
{{- end }}

{{/* The service account and the scheduling of pods. */}}
{{- define "air-quality-exporter.placement" -}}
{{- if or .Values.serviceAccount.create .Values.serviceAccount.name }}
serviceAccountName: {{ .Values.serviceAccount.name | default (include "air-quality-exporter.name" .) }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The sources of the exporter's environment: the ConfigMap, and the Secret if the values have one. */}}
{{- define "air-quality-exporter.environment" -}}
- configMapRef:
    name: {{ include "air-quality-exporter.name" . }}
{{- if or .Values.existingSecret .Values.secrets }}
- secretRef:
    name: {{ .Values.existingSecret | default (include "air-quality-exporter.name" .) }}
{{- end }}
{{- end }}

{{/* The annotations for discovery by a Prometheus without the operator: (list . "PORT" "PATH" "SCHEME"). */}}
{{- define "air-quality-exporter.scraped" -}}
{{- if not (include "air-quality-exporter.operator" (list (index . 0) (index . 0).Values.serviceMonitor.enabled)) }}
prometheus.io/scrape: "true"
prometheus.io/port: {{ index . 1 | quote }}
prometheus.io/path: {{ index . 2 }}
prometheus.io/scheme: {{ index . 3 }}
{{- end }}
{{- end }}
