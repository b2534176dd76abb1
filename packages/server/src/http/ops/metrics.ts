import { type ErrorCode, errorCodes, routeNames, routes } from "@hamlet/contract"
import { toKnownMethod } from "@hamlet/http1"
import {
  type Counter,
  Histogram,
  type LoopDelayReport,
  readResidentBytes,
  type SpanCounts,
} from "@hamlet/kit"
import type { RunnerStatus } from "@hamlet/sandbox"
import type { SentStats } from "../../domain/claims.ts"
import type { NodeStatus, ServiceStatus } from "../../domain/nodes.ts"
import type { QueueDepth } from "../../domain/queue/queue-store.ts"
import type { QueueStats } from "../../domain/queue/run-queue.ts"
import type { EndedRuns } from "../../domain/runs/live-runs.ts"
import type { ScheduleStats } from "../../domain/schedules/schedules.ts"
import { by, MetricPage } from "./metric-page.ts"

/** The counters of `/metrics`. */
export type Metrics = ReturnType<typeof createMetrics>

const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

type RefusalCounts = ReturnType<Counter<ErrorCode>["list"]>

/** The connections to the database, and how it responds. */
export interface DatabaseCounts {
  readonly connections: number
  readonly inUse: number
  readonly waiting: number
  readonly isUp: boolean
  readonly readErrors: number
  readonly writeErrors: number
}

/** The counts of the mail server. */
export interface MailCounts {
  readonly connections: number
  readonly messages: ReturnType<Counter<number>["list"]>
  readonly bytes: number
}

/** What the database was asked for; undefined where it did not respond. */
export interface CountedMetrics {
  readonly depth?: QueueDepth | undefined
  /** Emails that this server sends, if it sends any. */
  readonly mail?: SentStats | undefined
  /** Events that this server sends to webhooks. */
  readonly events?: SentStats | undefined
  /** How long ago the last backup was; undefined before the first one, too. */
  readonly backupAgeMs?: number | undefined
}

/** What is read each time the metrics are printed. */
export interface MetricSources {
  database(): DatabaseCounts
  node(): NodeStatus
  services(): readonly ServiceStatus[]
  runner(): RunnerStatus
  recorder(): {
    readonly waiting: number
    readonly dropped: number
    readonly ended: readonly EndedRuns[]
  }
  loopDelay(): LoopDelayReport
  refusals(): RefusalCounts
  queue(): QueueStats
  schedules(): ScheduleStats
  /** Undefined on a server that receives no mail. */
  mailServer(): MailCounts | undefined
  /** Undefined where traces are off. */
  spans(): SpanCounts | undefined
}

/**
 * Internal errors of each route begin at zero: a counter that appears with its first error has not
 * increased for Prometheus, and nobody would be told of that one.
 */
function createRequestCounts(): Map<string, number> {
  return new Map(
    routeNames.map((name) => [
      `route="${name}",method="${routes[name].method.toUpperCase()}",status="500"`,
      0,
    ]),
  )
}

/**
 * Counts requests by route, not by path: paths contain ids, so their number is unbounded. ADR 2 says
 * why this does not use a library.
 */
export function createMetrics(sources: MetricSources) {
  const requests = createRequestCounts()
  const latencies = new Map<string, Histogram>()
  return {
    observe(route: string, method: string, status: number, ms: number): void {
      const key = `route="${route}",method="${toKnownMethod(method)}",status="${status}"`
      requests.set(key, (requests.get(key) ?? 0) + 1)
      let latency = latencies.get(route)
      if (!latency) {
        latency = new Histogram(latencyBuckets)
        latencies.set(route, latency)
      }
      latency.add(ms)
    },
    print({ depth, mail, events, backupAgeMs }: CountedMetrics): string {
      const page = new MetricPage()
      const recorder = sources.recorder()
      page.counter("hamlet_http_requests_total", "Requests that got a response", [...requests])
      page.histogram(
        "hamlet_http_request_duration_seconds",
        "Time from receiving a request to sending its response",
        Array.from(latencies, ([route, latency]) => [`route="${route}"`, latency]),
      )
      addDatabase(page, sources.database(), sources.node())
      addServices(page, sources.services())
      page.gauge(
        "hamlet_backup_age_seconds",
        "Age of the last complete backup that was read through any node",
        backupAgeMs === undefined ? [] : backupAgeMs / 1000,
      )
      addVals(page, sources.runner(), recorder.ended, sources.refusals())
      page.gauge(
        "hamlet_run_records_waiting",
        "Runs whose record is not written yet",
        recorder.waiting,
      )
      page.counter(
        "hamlet_run_records_dropped_total",
        "Runs whose record could not be written",
        recorder.dropped,
      )
      addQueue(page, sources.queue(), depth)
      addSchedules(page, sources.schedules())
      if (mail) addSent(page, "hamlet_emails", mail, mailTexts)
      if (events) addSent(page, "hamlet_webhook_deliveries", events, eventTexts)
      addReceivedMail(page, sources.mailServer())
      addSpans(page, sources.spans())
      addLoopDelay(page, sources.loopDelay())
      page.gauge(
        "process_resident_memory_bytes",
        "Resident memory of the server",
        readResidentBytes() ?? [],
      )
      return page.toString()
    },
  }
}

/** A pool does not notice that the database is away: its connections count only while it responds. */
function addDatabase(
  page: MetricPage,
  { connections, inUse, waiting, isUp, readErrors, writeErrors }: DatabaseCounts,
  { problem, clockSkewMs }: NodeStatus,
): void {
  page.gauge("hamlet_database_up", "Whether the last read got its result", Number(isUp))
  page.gauge(
    "hamlet_database_writable",
    "Whether this node could renew its lease, which it writes every 2.5 seconds",
    Number(problem === undefined),
  )
  page.counter(
    "hamlet_database_errors_total",
    "Reads and writes that failed because the database was unavailable",
    by("operation", { read: readErrors, write: writeErrors }),
  )
  page.gauge(
    "hamlet_database_connections",
    "Connections of the database pool by state; waiting counts callers without a connection",
    by("state", { open: isUp ? connections : 0, in_use: isUp ? inUse : 0, waiting }),
  )
  page.gauge(
    "hamlet_clock_skew_seconds",
    "The clock of this machine minus that of the database",
    clockSkewMs / 1000,
  )
}

function addServices(page: MetricPage, services: readonly ServiceStatus[]): void {
  page.gauge(
    "hamlet_service_up",
    "Whether the bucket of large blobs and the libSQL server responded when they were last asked, every 30 seconds",
    services.map(({ service: { name }, problem }) => [
      `service="${name}"`,
      Number(problem === undefined),
    ]),
  )
}

/** Attempts to send something, and what waits to be sent. */
function addSent(
  page: MetricPage,
  name: string,
  { outcomes, waiting, oldestMs }: SentStats,
  texts: { readonly attempt: string; readonly all: string; readonly one: string },
): void {
  page.counter(
    `${name}_total`,
    `Attempts of this node to ${texts.attempt}, by outcome; a retried one will be tried again`,
    by("outcome", Object.fromEntries(outcomes)),
  )
  page.gauge(`${name}_waiting`, `${texts.all} that wait, on all nodes`, waiting)
  page.gauge(`${name}_oldest_seconds`, `Age of the oldest ${texts.one} that waits`, oldestMs / 1000)
}

const mailTexts = { attempt: "send an email", all: "Emails", one: "email" }
const eventTexts = { attempt: "deliver an event", all: "Deliveries to webhooks", one: "delivery" }

function addSpans(page: MetricPage, spans: SpanCounts | undefined): void {
  if (!spans) return
  const { exported, dropped, failed } = spans
  page.counter(
    "hamlet_trace_spans_total",
    "Spans of traces: exported ones, those dropped because the queue was full, and those that the collector did not take",
    by("outcome", { exported, dropped, failed }),
  )
}

function addVals(
  page: MetricPage,
  runner: RunnerStatus,
  ended: readonly EndedRuns[],
  refusals: RefusalCounts,
): void {
  const { ready, runs, waiting } = runner
  const labelled = ended.map(
    ({ source, status, durations }) =>
      [`source="${source}",status="${status}"`, durations] as const,
  )
  page.gauge(
    "hamlet_val_processes",
    "Val processes by state; ready ones wait for a val",
    by("state", { bound: runner.processes - ready, ready }),
  )
  page.gauge(
    "hamlet_val_memory_bytes",
    "Memory of all val processes on this node, as last measured",
    runner.memoryBytes,
  )
  page.gauge(
    "hamlet_val_memory_max_bytes",
    "Memory limit of all val processes together",
    runner.memoryBytesMax,
  )
  page.histogram(
    "hamlet_val_cold_start_seconds",
    "Time from a run without a process of its val until a new process has loaded the val",
    runner.coldStarts,
  )
  page.gauge(
    "hamlet_val_runs",
    "Runs by state; waiting ones have no run slot yet",
    by("state", { running: runs, waiting }),
  )
  page.counter(
    "hamlet_val_runs_ended_total",
    "Runs that ended on this node, by source and status",
    labelled.map(([labels, durations]) => [labels, durations.count]),
  )
  page.histogram(
    "hamlet_val_run_duration_seconds",
    "Duration of runs, including the wait for a process",
    labelled,
  )
  page.counter(
    "hamlet_val_requests_refused_total",
    "Requests to vals that were refused before the val ran, by error code",
    refusals.map(([code, count]) => [`code="${code}",status="${errorCodes[code].status}"`, count]),
  )
}

function addSchedules(page: MetricPage, { delays, dropped }: ScheduleStats): void {
  page.histogram(
    "hamlet_schedule_delay_seconds",
    "Time from a due time of a schedule until this node added its run to the queue",
    delays,
  )
  page.counter(
    "hamlet_schedule_due_times_dropped_total",
    "Due times without a run: missed, or the previous run had not ended",
    dropped,
  )
}

function addQueue(page: MetricPage, queue: QueueStats, depth: QueueDepth | undefined): void {
  const { requeued, retried, crashed } = queue
  page.gauge(
    "hamlet_queue_runs",
    "Runs in the queue of all nodes; due ones could start, later ones wait for their time",
    depth ? by("state", { due: depth.due, later: depth.later }) : [],
  )
  page.gauge(
    "hamlet_queue_oldest_seconds",
    "How long the first run that could start has been waiting",
    depth ? depth.oldestMs / 1000 : [],
  )
  page.gauge("hamlet_queue_active_runs", "Runs of the queue that this node has", queue.active)
  page.counter("hamlet_queue_claims_total", "Runs that this node has claimed", queue.claimed)
  page.counter(
    "hamlet_queue_returns_total",
    "Claimed runs that this node could not start and has returned to the queue",
    queue.returned,
  )
  page.counter(
    "hamlet_queue_takeovers_total",
    "Runs of nodes that were gone, by what this node did with them",
    by("outcome", { requeued, retried, crashed }),
  )
  page.counter(
    "hamlet_queue_lease_losses_total",
    "Runs that were taken from this node while it had them",
    queue.lost,
  )
}

function addReceivedMail(page: MetricPage, mail: MailCounts | undefined): void {
  if (!mail) return
  page.gauge("hamlet_mail_connections", "Open connections of mail clients", mail.connections)
  page.counter(
    "hamlet_mail_received_total",
    "Messages that were received, by the code of the reply; 250 means that they are stored",
    mail.messages.map(([code, count]) => [`code="${code}"`, count]),
  )
  page.counter("hamlet_mail_received_bytes_total", "Bytes of received messages", mail.bytes)
}

function addLoopDelay(page: MetricPage, { delay, work }: LoopDelayReport): void {
  page.histogram(
    "hamlet_event_loop_delay_seconds",
    "How late a timer of the event loop fires, which is due ten times a second",
    delay,
  )
  page.gauge(
    "hamlet_event_loop_delay_max_seconds",
    "Longest event loop delay since the start",
    delay.maxSeconds,
  )
  page.histogram(
    "hamlet_event_loop_work_seconds",
    "CPU time of the thread within each event loop delay; the rest is waiting for a CPU",
    work,
  )
  page.gauge(
    "hamlet_event_loop_work_max_seconds",
    "Most CPU time within one event loop delay since the start",
    work.maxSeconds,
  )
}
