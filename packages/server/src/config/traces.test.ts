import { describe, expect, test } from "bun:test"
import { loadTraceConfig } from "./traces.ts"

const load = (env: Readonly<Record<string, string>>) => loadTraceConfig((name) => env[name] ?? "")
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" }

describe("loadTraceConfig", () => {
  test("is undefined without a collector, whatever else is set", () => {
    expect(load({ OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "always_on" })).toBeUndefined()
    // Settings that are meant for other programs of a cluster change nothing.
    expect(load({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toBeUndefined()
  })

  test.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])(
    "is undefined with %j",
    (off) => {
      expect(load({ ...endpoint, ...off })).toBeUndefined()
    },
  )

  test("does not repeat an address, which may have a password", () => {
    expect(() => load({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://u:hunter2@c" })).toThrow('"…"')
  })

  test("reads the variables of OpenTelemetry", () => {
    expect(load(endpoint)).toMatchObject({
      url: "http://collector:4318/v1/traces",
      protocol: "http/protobuf",
      timeoutMs: 10_000,
      sampler: "parentbased_always_on",
      ratio: 1,
    })
    expect(
      load({
        ...endpoint,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://other.test/traces",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a%3Db, x-key = c ,",
        OTEL_RESOURCE_ATTRIBUTES: "a.b=c%2Cd",
        OTEL_TRACES_SAMPLER: "traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
      }),
    ).toMatchObject({
      url: "https://other.test/traces",
      headers: { authorization: "Bearer a=b", "x-key": "c" },
      resourceAttributes: { "a.b": "c,d" },
      sampler: "traceidratio",
      ratio: 0.25,
    })
  })

  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:password@collector"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "authorization"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0ab"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_TRACES_SAMPLER_ARG", "NaN"],
  ])("refuses %s %s", (name, value) => {
    expect(() => load({ ...endpoint, [name]: value })).toThrow(`Cannot use ${name} `)
  })

  test("does not repeat headers, which have keys", () => {
    expect(() => load({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "hunter2" })).toThrow(
      'HEADERS "…"',
    )
  })
})
