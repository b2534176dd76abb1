import { describe, expect, test } from "bun:test"
import { routeNames, routes } from "@hamlet/contract"
import { Histogram } from "@hamlet/kit"
import fc from "fast-check"
import { createEndedRuns } from "../../domain/runs/live-runs.ts"
import { createMetrics } from "./metrics.ts"

const database = () => ({
  connections: 2,
  inUse: 1,
  waiting: 0,
  isUp: true,
  readErrors: 3,
  writeErrors: 4,
})
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const observation = fc.record({
  route: fc.constantFrom(...routeNames.slice(0, 4), "none"),
  method: fc.constantFrom("GET", "POST", "HEAD", "BREW", 'A"B', "get", "\n"),
  status: fc.constantFrom(200, 404, 500),
  ms: fc.oneof(
    fc.double({ min: 0, max: 20_000, noNaN: true }),
    fc.constantFrom(...bounds.map((bound) => bound * 1000), 0, 1e-6, 1e12),
  ),
})

const coldStarts = new Histogram()
for (const ms of [40, 400]) coldStarts.add(ms)
const runner = () => ({
  isolation: "none",
  processes: 5,
  ready: 2,
  runs: 1,
  waiting: 0,
  memoryBytes: 3_000,
  memoryBytesMax: 9_000,
  coldStarts,
})

const histogram = new Histogram([0.001, 0.1])
for (const ms of [0, 0.5, 1, 50, 400]) histogram.add(ms)
const loopDelay = () => ({ delay: histogram, work: histogram })
const recorder = () => {
  const ended = createEndedRuns()
  for (const ms of [0, 1, 2_000, 90_000]) ended.add("http", "succeeded", ms)
  ended.add("api", "failed", 5)
  return { waiting: 3, dropped: 4, ended: ended.list() }
}
const refusals = () => [["overloaded", 2] as const]
const queue = () => ({
  claimed: 9,
  returned: 1,
  requeued: 2,
  retried: 3,
  crashed: 4,
  lost: 5,
  active: 6,
})
const schedules = () => ({ delays: histogram, dropped: 7 })
const mailServer = () => undefined
const spans = () => ({ exported: 5, dropped: 6, failed: 7, waitingBytes: 8 })
const node = () => ({ problem: undefined, clockSkewMs: -1_500, isClockWrong: false })
const services = () => [
  { service: { name: "bucket", use: "large blobs" }, problem: "AccessDenied" } as const,
  { service: { name: "libsql", use: "databases" }, problem: undefined } as const,
]
const sources = {
  database,
  node,
  services,
  runner,
  recorder,
  loopDelay,
  refusals,
  queue,
  schedules,
  mailServer,
  spans,
}
const depth = { due: 7, later: 8, oldestMs: 1_500, isPartial: false }

describe("createMetrics", () => {
  test("prints the status and the duration of ended runs", () => {
    const families = parseExposition(createMetrics(sources).print({ depth }))
    expect(
      families
        .get("hamlet_val_runs_ended_total")
        ?.samples.map(({ labels, value }) => [labels.source, labels.status, value]),
    ).toEqual([
      ["http", "succeeded", 4],
      ["api", "failed", 1],
    ])
    const samples = families.get("hamlet_val_run_duration_seconds")?.samples ?? []
    const bucket = (le: string) =>
      samples.find(({ labels }) => labels.source === "http" && labels.le === le)?.value
    expect([bucket("0.001"), bucket("2.5"), bucket("60"), bucket("+Inf")]).toEqual([2, 3, 3, 4])
  })

  test("prints which services respond, and the age of the last backup", () => {
    const families = parseExposition(createMetrics(sources).print({ backupAgeMs: 90_000 }))
    const values = (name: string) => families.get(name)?.samples.map(({ value }) => value)
    expect(values("hamlet_service_up")).toEqual([0, 1])
    expect(values("hamlet_backup_age_seconds")).toEqual([90])
    const without = parseExposition(createMetrics(sources).print({}))
    expect(without.get("hamlet_backup_age_seconds")?.samples).toEqual([])
  })

  test("prints the internal errors of each route before the first one", () => {
    const metrics = createMetrics(sources)
    const errorsOf = () =>
      readRequests(metrics.print({})).flatMap(({ labels, value }) =>
        labels.route === "saveVal" && labels.status === "500" ? [value] : [],
      )
    expect(errorsOf()).toEqual([0])
    metrics.observe("saveVal", routes.saveVal.method.toUpperCase(), 500, 1)
    expect(errorsOf()).toEqual([1])
  })

  test("prints the queue, and leaves out what could not be counted", () => {
    const metrics = createMetrics(sources)
    const valuesOf = (text: string, name: string) =>
      parseExposition(text)
        .get(name)
        ?.samples.map(({ value }) => value)
    expect(valuesOf(metrics.print({ depth }), "hamlet_queue_runs")).toEqual([7, 8])
    expect(valuesOf(metrics.print({ depth }), "hamlet_queue_oldest_seconds")).toEqual([1.5])
    expect(valuesOf(metrics.print({}), "hamlet_queue_runs")).toEqual([])
    expect(valuesOf(metrics.print({}), "hamlet_queue_takeovers_total")).toEqual([2, 3, 4])
    expect(valuesOf(metrics.print({ depth }), "hamlet_schedule_due_times_dropped_total")).toEqual([
      7,
    ])
  })

  test("prints cold starts, the memory of val processes, and refused requests", () => {
    const families = parseExposition(createMetrics(sources).print({ depth }))
    const starts = families.get("hamlet_val_cold_start_seconds")?.samples ?? []
    expect(starts.find(({ name }) => name.endsWith("_count"))?.value).toBe(2)
    expect(starts.find(({ labels }) => labels.le === "0.05")?.value).toBe(1)
    const gaugeOf = (name: string) => families.get(name)?.samples[0]?.value
    expect([gaugeOf("hamlet_val_memory_bytes"), gaugeOf("hamlet_val_memory_max_bytes")]).toEqual([
      3_000, 9_000,
    ])
    const [refused] = families.get("hamlet_val_requests_refused_total")?.samples ?? []
    expect(refused).toMatchObject({ labels: { code: "overloaded", status: "503" }, value: 2 })
  })

  test("prints the spans of traces, if there are any", () => {
    const values = (text: string) =>
      parseExposition(text)
        .get("hamlet_trace_spans_total")
        ?.samples.map(({ labels, value }) => [labels.outcome, value])
    const off = { ...sources, spans: () => undefined }
    expect(values(createMetrics(off).print({ depth }))).toBeUndefined()
    expect(values(createMetrics(sources).print({ depth }))).toEqual([
      ["exported", 5],
      ["dropped", 6],
      ["failed", 7],
    ])
  })

  test("prints the text format of Prometheus, and counts every request", () => {
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 60 }), (observations) => {
        const metrics = createMetrics(sources)
        for (const { route, method, status, ms } of observations)
          metrics.observe(route, method, status, ms)
        const families = parseExposition(metrics.print({ depth }))

        const counted = families.get("hamlet_http_requests_total")?.samples ?? []
        for (const { labels, value } of counted) {
          const isThis = (it: (typeof observations)[number]) =>
            it.route === labels.route &&
            String(it.status) === labels.status &&
            toLabel(it.method) === labels.method
          expect(value).toBe(observations.filter(isThis).length)
        }
        expect(counted.reduce((sum, { value }) => sum + value, 0)).toBe(observations.length)

        for (const route of new Set(observations.map((it) => it.route))) {
          const durations = observations.filter((it) => it.route === route).map((it) => it.ms)
          const samples = (
            families.get("hamlet_http_request_duration_seconds")?.samples ?? []
          ).filter(({ labels }) => labels.route === route)
          const buckets = samples.filter(({ name }) => name.endsWith("_bucket"))
          expect(buckets.map(({ labels }) => labels.le)).toEqual([...bounds.map(String), "+Inf"])
          expect(buckets.map(({ value }) => value)).toEqual(
            [...bounds, Number.POSITIVE_INFINITY].map(
              (bound) => durations.filter((ms) => ms <= bound * 1000).length,
            ),
          )
          expect(samples.find(({ name }) => name.endsWith("_count"))?.value).toBe(durations.length)
          expect(samples.find(({ name }) => name.endsWith("_sum"))?.value).toBeCloseTo(
            durations.reduce((sum, ms) => sum + ms, 0) / 1000,
          )
        }
      }),
    )
  })

  test("counts every route of the table, and requests without a route", () => {
    const metrics = createMetrics(sources)
    for (const route of [...routeNames, "none"]) metrics.observe(route, "GET", 200, 100)
    const counted = readCounted(metrics.print({ depth }))
    expect(counted.map(({ labels }) => labels.route)).toEqual([...routeNames, "none"])
  })

  test("counts unknown methods together", () => {
    const metrics = createMetrics(sources)
    for (let n = 0; n < 1000; n++) metrics.observe("none", `METHOD${n}`, 405, 0)
    const counted = readCounted(metrics.print({ depth }))
    expect(counted).toEqual([
      {
        name: "hamlet_http_requests_total",
        labels: { route: "none", method: "other", status: "405" },
        value: 1000,
      },
    ])
  })

  test("prints whether the database responds and accepts writes, and how the clocks differ", () => {
    const print = (isUp: boolean, problem: unknown) => {
      const metrics = createMetrics({
        ...sources,
        database: () => ({ ...database(), isUp }),
        node: () => ({ ...node(), problem }),
      })
      const families = parseExposition(metrics.print({ depth }))
      return (name: string) => families.get(name)?.samples.map(({ value }) => value)
    }
    const well = print(true, undefined)
    expect([well("hamlet_database_up"), well("hamlet_database_writable")]).toEqual([[1], [1]])
    expect(well("hamlet_database_errors_total")).toEqual([3, 4])
    expect(well("hamlet_database_connections")).toEqual([2, 1, 0])
    expect(well("hamlet_clock_skew_seconds")).toEqual([-1.5])
    const away = print(false, new Error("away"))
    expect([away("hamlet_database_up"), away("hamlet_database_writable")]).toEqual([[0], [0]])
    // The pool still counts the connections that it had.
    expect(away("hamlet_database_connections")).toEqual([0, 0, 0])
  })

  test("prints the current state of the database pool", () => {
    let waiting = 0
    const metrics = createMetrics({
      ...sources,
      database: () => ({ ...database(), connections: 5, inUse: 3, waiting }),
    })
    waiting = 7
    const samples = parseExposition(metrics.print({ depth })).get(
      "hamlet_database_connections",
    )?.samples
    expect(samples?.map(({ labels, value }) => [labels.state, value])).toEqual([
      ["open", 5],
      ["in_use", 3],
      ["waiting", 7],
    ])
  })

  test("prints the memory of the process, also before the first request", () => {
    const families = parseExposition(createMetrics(sources).print({ depth }))
    expect(families.get("process_resident_memory_bytes")?.samples[0]?.value).toBeGreaterThan(
      1_000_000,
    )
    expect([...families.keys()]).toContain("hamlet_http_requests_total")
  })
})

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Family {
  readonly type: string
  readonly samples: Sample[]
}

const toLabel = (method: string) => (["GET", "POST", "HEAD"].includes(method) ? method : "other")

/** Parses the text format, version 0.0.4; throws for invalid text. */
function parseExposition(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let helped = ""
  let current = ""
  expect(text).toEndWith("\n")
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (?:[^\\]|\\\\|\\n)+$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line)
    if (help) helped = help[1] ?? ""
    else if (type) {
      // A metric is described once, right before its samples, which are contiguous.
      current = type[1] ?? ""
      expect([current, families.has(current)]).toEqual([helped, false])
      families.set(current, { type: type[2] ?? "", samples: [] })
    } else {
      const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
      expect([line, sample !== null]).toEqual([line, true])
      const [, name = "", labels = "", value = ""] = sample ?? []
      expect(Number.isNaN(Number(value))).toBe(false)
      const family = families.get(current)
      const suffixes = family?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      expect(suffixes.map((suffix) => current + suffix)).toContain(name)
      expect(seen.has(`${name}{${labels}}`)).toBe(false)
      seen.add(`${name}{${labels}}`)
      family?.samples.push({ name, labels: parseLabels(labels), value: Number(value) })
    }
  }
  return families
}

function parseLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/g)]
  expect(pairs.map(([pair]) => pair).join("")).toBe(text)
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value]))
}

function readRequests(text: string) {
  return parseExposition(text).get("hamlet_http_requests_total")?.samples ?? []
}

/** The kinds of requests that were seen. */
function readCounted(text: string) {
  return readRequests(text).filter(({ value }) => value > 0)
}
