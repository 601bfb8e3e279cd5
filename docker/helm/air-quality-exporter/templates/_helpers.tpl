{{/* What all objects are called. */}}
{{- define "air-quality-exporter.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The labels of objects. Of (list . "air-quality-relay") those of another program. */}}
{{- define "air-quality-exporter.labels" -}}
{{ include "air-quality-exporter.selector" . }}
{{- with index . 0 }}
app.kubernetes.io/part-of: air-quality-exporter
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* What pods are selected by. The scrape job is named after the first one. */}}
{{- define "air-quality-exporter.selector" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{- define "air-quality-exporter.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{/* Several exporters: sets of them, with names of their own. */}}
{{- define "air-quality-exporter.isMany" -}}
{{- if or (gt (int .Values.shards) 1) (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{/* No feed is given, nor a Secret that could have its address: simulated cities never come among real ones. */}}
{{- define "air-quality-exporter.isSimulated" -}}
{{- if not (or .Values.feed.poll.enabled .Values.feed.urls .Values.feed.list (hasKey .Values.settings "feed.file") (hasKey .Values.secrets "feed.url") .Values.existingSecret) }}true{{ end }}
{{- end }}

{{/* A feed in a pod of its own: real data, or a simulated one for all exporters to share. */}}
{{- define "air-quality-exporter.hasFeedPod" -}}
{{- $isShared := and (include "air-quality-exporter.isMany" .) (include "air-quality-exporter.isSimulated" .) }}
{{- if or .Values.feed.poll.enabled $isShared }}true{{ end }}
{{- end }}

{{/* The addresses of the feeds, one a line. */}}
{{- define "air-quality-exporter.feeds" -}}
{{- if include "air-quality-exporter.hasFeedPod" . -}}
ws://{{ include "air-quality-exporter.name" . }}-feed:8765/
{{- else -}}
{{ join "\n" .Values.feed.urls }}
{{- end }}
{{- end }}

{{/* A value as a flag takes it: whole numbers without an exponent, lists by lines. */}}
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

{{/* Flags as arguments. */}}
{{- define "air-quality-exporter.arguments" -}}
{{- range $flag, $value := . }}
- {{ printf "--%s=%s" $flag (include "air-quality-exporter.value" $value) | quote }}
{{- end }}
{{- end }}

{{- define "air-quality-exporter.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* "true" where the Prometheus Operator's objects of a version are wanted: (list . "auto" "v1"). */}}
{{- define "air-quality-exporter.operator" -}}
{{- $wanted := toString (index . 1) }}
{{- if eq $wanted "auto" }}
{{- if (index . 0).Capabilities.APIVersions.Has (print "monitoring.coreos.com/" (index . 2)) }}true{{ end }}
{{- else if eq $wanted "true" }}true{{ end }}
{{- end }}

{{/* A ServiceMonitor, or for pairs ScrapeConfigs; without the first Prometheus finds the pods by annotations. */}}
{{- define "air-quality-exporter.isMonitored" -}}
{{- include "air-quality-exporter.operator" (list . .Values.serviceMonitor.enabled (ternary "v1" "v1alpha1" (eq (int .Values.replicas) 1))) }}
{{- end }}

{{/* The port that a feed's address leads to. */}}
{{- define "air-quality-exporter.feedPort" -}}
{{- $url := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" }}
{{- $port | default (ternary "443" "80" (eq $url.scheme "wss")) }}
{{- end }}

{{/* The account of the pods; none is named unless asked for. */}}
{{- define "air-quality-exporter.account" -}}
{{- with .Values.serviceAccount }}
{{- if or .create .name }}
serviceAccountName: {{ .name | default (include "air-quality-exporter.name" $) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "air-quality-exporter.revisions" -}}
{{- if not (kindIs "invalid" .Values.revisionHistoryLimit) }}
revisionHistoryLimit: {{ .Values.revisionHistoryLimit }}
{{- end }}
{{- end }}

{{/* Where pods may run. */}}
{{- define "air-quality-exporter.placement" -}}
{{- with include "air-quality-exporter.account" . | trim }}
{{ . }}
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

{{/* The metadata of an exporter's pod: it starts anew when its settings change. */}}
{{- define "air-quality-exporter.podMetadata" -}}
labels:
  {{- include "air-quality-exporter.selector" (list . "air-quality-exporter") | nindent 2 }}
  {{- with mergeOverwrite (dict) .Values.commonLabels .Values.podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
annotations:
  checksum/settings: {{ include (print .Template.BasePath "/settings.yaml") . | sha256sum }}
  {{- if and (eq (int .Values.replicas) 1) (not (include "air-quality-exporter.isMonitored" .)) }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "10025"
  prometheus.io/path: {{ index .Values.settings "web.telemetry-path" | default "/metrics" }}
  {{- if ne .Values.probeScheme "HTTP" }}
  prometheus.io/scheme: {{ lower .Values.probeScheme }}
  {{- end }}
  {{- end }}
  {{- with .Values.podAnnotations }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}

{{/* Where an exporter has its flags from. No Secret that the values do not name: see isSimulated. */}}
{{- define "air-quality-exporter.environment" -}}
- configMapRef:
    name: {{ include "air-quality-exporter.name" . }}
{{- if or .Values.existingSecret .Values.secrets }}
- secretRef:
    name: {{ .Values.existingSecret | default (include "air-quality-exporter.name" .) }}
{{- end }}
{{- end }}

{{/* An exporter's pod but for its volume. */}}
{{- define "air-quality-exporter.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
# Responses in progress get 5 s, then the storage is written.
terminationGracePeriodSeconds: 15
securityContext: {{ toYaml .Values.podSecurityContext | nindent 2 }}
{{- include "air-quality-exporter.placement" . }}
containers:
  - name: air-quality-exporter
    {{- include "air-quality-exporter.image" . | nindent 4 }}
    {{- with .Values.extraArgs }}
    args: {{ toYaml . | nindent 6 }}
    {{- end }}
    {{- if or (gt (int .Values.shards) 1) .Values.extraEnv }}
    env:
      {{- if gt (int .Values.shards) 1 }}
      # Which shard a pod is follows from its place in the set.
      - name: POD_INDEX
        valueFrom:
          fieldRef:
            fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
      - name: AIR_QUALITY_EXPORTER_CITY_SHARD
        value: $(POD_INDEX)/{{ .Values.shards }}
      - name: AIR_QUALITY_EXPORTER_FEED_URL
        value: ws://{{ include "air-quality-exporter.name" . }}-relay:8765/shard/$(POD_INDEX)/{{ .Values.shards }}
      {{- end }}
      {{- with .Values.extraEnv }}{{ toYaml . | nindent 6 }}{{ end }}
    {{- end }}
    envFrom: {{ include "air-quality-exporter.environment" . | nindent 6 }}
    ports:
      - name: metrics
        containerPort: 10025
    livenessProbe:
      httpGet:
        path: /-/healthy
        port: metrics
        {{- if ne .Values.probeScheme "HTTP" }}
        scheme: {{ .Values.probeScheme }}
        {{- end }}
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 3
    # A feed that is down makes the pod unready but never restarts it; it is still scraped (service.yaml).
    readinessProbe:
      httpGet:
        path: /-/ready
        port: metrics
        {{- if ne .Values.probeScheme "HTTP" }}
        scheme: {{ .Values.probeScheme }}
        {{- end }}
      periodSeconds: 5
      timeoutSeconds: 5
    resources: {{ toYaml .Values.resources | nindent 6 }}
    securityContext:
      {{- include "air-quality-exporter.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - name: readings
        mountPath: /var/lib/air-quality-exporter
      {{- if .Values.feed.list }}
      - name: feeds
        mountPath: /etc/air-quality-exporter
        readOnly: true
      {{- end }}
      {{- with .Values.extraVolumeMounts }}{{ toYaml . | nindent 6 }}{{ end }}
{{- end }}

{{/* Its other volumes. */}}
{{- define "air-quality-exporter.volumes" -}}
{{- if .Values.feed.list }}
- name: feeds
  secret:
    secretName: {{ include "air-quality-exporter.name" . }}-feeds
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Health of poll and relay. */}}
{{- define "air-quality-exporter.feedProbes" -}}
livenessProbe:
  httpGet:
    path: /-/healthy
    port: metrics
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /-/ready
    port: metrics
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* How Prometheus finds poll or relay where no object of the operator, of a version, names them: (list . "v1"). */}}
{{- define "air-quality-exporter.scraped" -}}
{{- if not (include "air-quality-exporter.operator" (list (index . 0) (index . 0).Values.serviceMonitor.enabled (index . 1))) }}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/port: "10026"
  prometheus.io/path: /metrics
{{- end }}
{{- end }}

{{- define "air-quality-exporter.claim" -}}
accessModes: {{ toJson .Values.storage.accessModes }}
{{- with .Values.storage.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.storage.size }}
{{- end }}

{{- define "air-quality-exporter.nameResolution" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end }}

{{/* One of them at a time; one that is unready may always go. */}}
{{- define "air-quality-exporter.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ index . 2 }}
  labels: {{ include "air-quality-exporter.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{ include "air-quality-exporter.selector" . | nindent 6 }}
{{- end }}
