import { choice, integer, type ReadSetting, readTable, text, webAddress } from "./setting.ts"

/** The protocols of OTLP over HTTP. */
const protocols = ["http/protobuf", "http/json"] as const

const samplers = [
  "parentbased_always_on",
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const

/** Whether there are traces. */
const endpointSettings = {
  isDisabled: choice({
    env: "OTEL_SDK_DISABLED",
    choices: ["false", "true"],
    meaning: "`true`: no traces, whatever the other settings are.",
  }),
  exporter: text({
    env: "OTEL_TRACES_EXPORTER",
    accept: /^[a-z,_-]{1,100}$/,
    reason: "it must be otlp or none",
    meaning: "`none`: no traces, whatever the other settings are.",
  }),
  endpoint: text({
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    ...webAddress,
    isSecret: true,
    meaning:
      "Address of an OpenTelemetry collector (OTLP over HTTP, often port 4318), which gets the traces at `/v1/traces` below it. Empty: no traces. See docs/operations.md.",
  }),
  tracesEndpoint: text({
    env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ...webAddress,
    isSecret: true,
    meaning: "The whole address for traces, instead of the one above.",
  }),
}

/** Where traces go. The variables are those of OpenTelemetry. */
export const traceSettings = {
  ...endpointSettings,
  headers: text({
    env: "OTEL_EXPORTER_OTLP_HEADERS",
    accept: toPairs,
    reason: "it must be a list of name=value, separated by commas, percent-encoded",
    isSecret: true,
    meaning:
      "Headers of requests to the collector, such as `authorization=Bearer%20KEY`: `name=value`, separated by commas, values percent-encoded.",
  }),
  protocol: choice({
    env: "OTEL_EXPORTER_OTLP_PROTOCOL",
    choices: protocols,
    meaning: "Format of the traces: `http/protobuf` or `http/json`.",
  }),
  timeoutMs: integer({
    env: "OTEL_EXPORTER_OTLP_TIMEOUT",
    default: 10_000,
    max: 600_000,
    meaning: "Milliseconds that a request to the collector may take.",
  }),
  serviceName: text({
    env: "OTEL_SERVICE_NAME",
    default: "hamlet",
    accept: /^[\x20-\x7e]{1,200}$/,
    reason: "it must be 1 to 200 visible ASCII characters",
    meaning: "Name of this service in traces.",
  }),
  resourceAttributes: text({
    env: "OTEL_RESOURCE_ATTRIBUTES",
    accept: toPairs,
    reason: "it must be a list of name=value, separated by commas, percent-encoded",
    meaning:
      "Attributes of this service in traces, such as `deployment.environment.name=test`: `name=value`, separated by commas.",
  }),
  sampler: choice({
    env: "OTEL_TRACES_SAMPLER",
    choices: samplers,
    meaning:
      "Which traces are recorded: `always_on`, `always_off`, `traceidratio` (a share of them), or one of these after `parentbased_`: as the `traceparent` of a request says, and for others as the name says.",
  }),
  ratio: text<number>({
    env: "OTEL_TRACES_SAMPLER_ARG",
    default: "1",
    accept: (value) =>
      /^(?:0?\.\d{1,9}|[01](?:\.0+)?|0\.\d{1,9})$/.test(value) ? Number(value) : undefined,
    reason: "it must be a number from 0 to 1",
    meaning: "Share of traces that `traceidratio` records, from 0 to 1.",
  }),
}

/**
 * Undefined if there is no collector. The other variables do not count then: some clusters set them
 * for all programs, also to values that this server does not know.
 */
export function loadTraceConfig(read: ReadSetting) {
  const { isDisabled, exporter, endpoint, tracesEndpoint } = readTable(endpointSettings, read)
  const url = tracesEndpoint ?? (endpoint && `${endpoint}/v1/traces`)
  if (url === undefined || isDisabled === "true" || exporter === "none") return undefined
  const { headers, protocol, timeoutMs, serviceName, resourceAttributes, sampler, ratio } =
    readTable(traceSettings, read)
  return {
    url,
    headers,
    protocol,
    timeoutMs,
    serviceName,
    resourceAttributes,
    sampler,
    ratio: ratio ?? 1,
  }
}

/** Pairs as in the header `baggage`: `a=b,c=d%20e`. */
function toPairs(value: string): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = []
  for (const item of value.split(",")) {
    if (item.trim() === "") continue
    const [, name, encoded] =
      /^\s*([\w.!#$%&'*+^`|~/-]{1,200})\s*=\s*([\x21-\x7e ]{0,4000}?)\s*$/.exec(item) ?? []
    const text = encoded === undefined ? undefined : decode(encoded)
    if (name === undefined || text === undefined) return undefined
    pairs.push([name, text])
  }
  return Object.fromEntries(pairs)
}

/** Undefined for what no header can contain, and for an invalid escape. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /^[\x20-\x7e]*$/.test(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}
