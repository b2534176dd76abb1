import { type ErrorCode, errorCodes } from "@hamlet/contract"
import type { SentMail } from "../../domain/mail/outbound/deliver-email.ts"
import type { NodeStatus } from "../../domain/nodes.ts"
import type { QueueDepth } from "../../domain/queue/queue-store.ts"
import type { QueueStats } from "../../domain/queue/run-queue.ts"
import type { EndedRuns } from "../../domain/runs/live-runs.ts"
import type { RunnerStatus } from "../../domain/runs/runner.ts"
import type { ScheduleStats } from "../../domain/schedules/schedules.ts"
import type { SentEvents } from "../../domain/webhooks/send-delivery.ts"
import type { Counter } from "../../shared/counter.ts"
import { toKnownMethod } from "../../shared/headers/known-method.ts"
import { Histogram } from "../../shared/histogram.ts"
import type { LoopDelayReport } from "../../shared/loop-delay.ts"
import type { SpanCounts } from "../../shared/tracing/tracer.ts"
import { type DatabaseCounts, printDatabase } from "./database-metrics.ts"
import { printMetric, toBuckets } from "./print-metric.ts"

/** The counters of `/metrics`. */
export interface Metrics {
  observe(route: string, method: string, status: number, ms: number): void
  /**
   * `depth` is undefined when the queue could not be counted. `mail` is what this server sends, if
   * it sends any, and `events` what it sends to webhooks.
   */
  print(depth: QueueDepth | undefined, mail?: SentMail, events?: SentEvents): string
}

const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

type RefusalCounts = ReturnType<Counter<ErrorCode>["list"]>

/** The counts of the mail server. */
export interface MailCounts {
  readonly connections: number
  readonly messages: ReturnType<Counter<number>["list"]>
  readonly bytes: number
}

/** What is read each time the metrics are printed. */
export interface MetricSources {
  database(): DatabaseCounts
  node(): NodeStatus
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
 * Counts requests by route, not by path: paths contain ids, so their number is unbounded. ADR 2 says
 * why this does not use a library.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const requests = new Map<string, number>()
  const latencies = new Map<string, Histogram>()
  return {
    observe(route, method, status, ms) {
      const key = `route="${route}",method="${toKnownMethod(method)}",status="${status}"`
      requests.set(key, (requests.get(key) ?? 0) + 1)
      let latency = latencies.get(route)
      if (!latency) {
        latency = new Histogram(latencyBuckets)
        latencies.set(route, latency)
      }
      latency.add(ms)
    },
    print(depth, mail, events) {
      const recorder = sources.recorder()
      return [
        ...printMetric(
          "hamlet_http_requests_total",
          "counter",
          "Requests that got a response",
          [...requests].map(([labels, count]) => [`{${labels}}`, count]),
        ),
        ...printMetric(
          "hamlet_http_request_duration_seconds",
          "histogram",
          "Time from receiving a request to sending its response",
          [...latencies].flatMap(([route, latency]) => toBuckets(`route="${route}"`, latency)),
        ),
        ...printDatabase(sources.database(), sources.node()),
        ...printVals(sources.runner(), recorder.ended, sources.refusals()),
        ...printMetric(
          "hamlet_run_records_waiting",
          "gauge",
          "Runs whose record is not written yet",
          [["", recorder.waiting]],
        ),
        ...printMetric(
          "hamlet_run_records_dropped_total",
          "counter",
          "Runs whose record could not be written",
          [["", recorder.dropped]],
        ),
        ...printQueue(sources.queue(), depth),
        ...printSchedules(sources.schedules()),
        ...(mail ? printMail(mail) : []),
        ...(events ? printEvents(events) : []),
        ...printReceivedMail(sources.mailServer()),
        ...printSpans(sources.spans()),
        ...printLoopDelay(sources.loopDelay()),
        ...printMetric("process_resident_memory_bytes", "gauge", "Resident memory of the server", [
          ["", process.memoryUsage.rss()],
        ]),
        "",
      ].join("\n")
    },
  }
}

function printEvents({ outcomes, waiting }: SentEvents): readonly string[] {
  return [
    ...printMetric(
      "hamlet_webhook_deliveries_total",
      "counter",
      "Attempts of this node to deliver an event, by outcome; a retried one will be tried again",
      outcomes.map(([outcome, count]) => [`{outcome="${outcome}"}`, count]),
    ),
    ...printMetric(
      "hamlet_webhook_deliveries_waiting",
      "gauge",
      "Deliveries to webhooks that wait, on all nodes",
      [["", waiting.waiting]],
    ),
    ...printMetric(
      "hamlet_webhook_deliveries_oldest_seconds",
      "gauge",
      "Age of the oldest delivery that waits",
      [["", waiting.oldestMs / 1000]],
    ),
  ]
}

function printMail({ outcomes, waiting }: SentMail): readonly string[] {
  const counts = outcomes.map(([outcome, count]) => [`{outcome="${outcome}"}`, count] as const)
  return [
    ...printMetric(
      "hamlet_emails_total",
      "counter",
      "Attempts of this node to send an email, by outcome; a retried one will be tried again",
      counts,
    ),
    ...printMetric("hamlet_emails_waiting", "gauge", "Emails that wait, on all nodes", [
      ["", waiting.waiting],
    ]),
    ...printMetric("hamlet_emails_oldest_seconds", "gauge", "Age of the oldest email that waits", [
      ["", waiting.oldestMs / 1000],
    ]),
  ]
}

function printSpans(spans: SpanCounts | undefined): readonly string[] {
  if (!spans) return []
  return printMetric(
    "hamlet_trace_spans_total",
    "counter",
    "Spans of traces: exported ones, those dropped because the queue was full, and those that the collector did not take",
    [
      ['{outcome="exported"}', spans.exported],
      ['{outcome="dropped"}', spans.dropped],
      ['{outcome="failed"}', spans.failed],
    ],
  )
}

function printVals(
  runner: RunnerStatus,
  ended: readonly EndedRuns[],
  refusals: RefusalCounts,
): readonly string[] {
  return [
    ...printMetric(
      "hamlet_val_processes",
      "gauge",
      "Val processes by state; ready ones wait for a val",
      [
        ['{state="bound"}', runner.processes - runner.ready],
        ['{state="ready"}', runner.ready],
      ],
    ),
    ...printMetric(
      "hamlet_val_memory_bytes",
      "gauge",
      "Memory of all val processes on this node, as last measured",
      [["", runner.memoryBytes]],
    ),
    ...printMetric(
      "hamlet_val_memory_max_bytes",
      "gauge",
      "Memory limit of all val processes together",
      [["", runner.memoryBytesMax]],
    ),
    ...printMetric(
      "hamlet_val_cold_start_seconds",
      "histogram",
      "Time from a run without a process of its val until a new process has loaded the val",
      toBuckets("", runner.coldStarts),
    ),
    ...printMetric("hamlet_val_runs", "gauge", "Runs by state; waiting ones have no run slot yet", [
      ['{state="running"}', runner.runs],
      ['{state="waiting"}', runner.waiting],
    ]),
    ...printMetric(
      "hamlet_val_runs_ended_total",
      "counter",
      "Runs that ended on this node, by source and status",
      ended.map(({ source, status, durations }) => [
        `{source="${source}",status="${status}"}`,
        durations.count,
      ]),
    ),
    ...printMetric(
      "hamlet_val_run_duration_seconds",
      "histogram",
      "Duration of runs, including the wait for a process",
      ended.flatMap(({ source, status, durations }) =>
        toBuckets(`source="${source}",status="${status}"`, durations),
      ),
    ),
    ...printMetric(
      "hamlet_val_requests_refused_total",
      "counter",
      "Requests to vals that were refused before the val ran, by error code",
      refusals.map(([code, count]) => [
        `{code="${code}",status="${errorCodes[code].status}"}`,
        count,
      ]),
    ),
  ]
}

function printSchedules({ delays, dropped }: ScheduleStats): readonly string[] {
  return [
    ...printMetric(
      "hamlet_schedule_delay_seconds",
      "histogram",
      "Time from a due time of a schedule until this node added its run to the queue",
      toBuckets("", delays),
    ),
    ...printMetric(
      "hamlet_schedule_due_times_dropped_total",
      "counter",
      "Due times without a run: missed, or the previous run had not ended",
      [["", dropped]],
    ),
  ]
}

function printQueue(queue: QueueStats, depth: QueueDepth | undefined): readonly string[] {
  return [
    ...printMetric(
      "hamlet_queue_runs",
      "gauge",
      "Runs in the queue of all nodes; due ones could start, later ones wait for their time",
      depth
        ? [
            ['{state="due"}', depth.due],
            ['{state="later"}', depth.later],
          ]
        : [],
    ),
    ...printMetric(
      "hamlet_queue_oldest_seconds",
      "gauge",
      "How long the first run that could start has been waiting",
      depth ? [["", depth.oldestMs / 1000]] : [],
    ),
    ...printMetric("hamlet_queue_active_runs", "gauge", "Runs of the queue that this node has", [
      ["", queue.active],
    ]),
    ...printMetric("hamlet_queue_claims_total", "counter", "Runs that this node has claimed", [
      ["", queue.claimed],
    ]),
    ...printMetric(
      "hamlet_queue_returns_total",
      "counter",
      "Claimed runs that this node could not start and has returned to the queue",
      [["", queue.returned]],
    ),
    ...printMetric(
      "hamlet_queue_takeovers_total",
      "counter",
      "Runs of nodes that were gone, by what this node did with them",
      [
        ['{outcome="requeued"}', queue.requeued],
        ['{outcome="retried"}', queue.retried],
        ['{outcome="crashed"}', queue.crashed],
      ],
    ),
    ...printMetric(
      "hamlet_queue_lease_losses_total",
      "counter",
      "Runs that were taken from this node while it had them",
      [["", queue.lost]],
    ),
  ]
}

function printReceivedMail(mail: MailCounts | undefined): readonly string[] {
  if (!mail) return []
  return [
    ...printMetric("hamlet_mail_connections", "gauge", "Open connections of mail clients", [
      ["", mail.connections],
    ]),
    ...printMetric(
      "hamlet_mail_received_total",
      "counter",
      "Messages that were received, by the code of the reply; 250 means that they are stored",
      mail.messages.map(([code, count]) => [`{code="${code}"}`, count]),
    ),
    ...printMetric("hamlet_mail_received_bytes_total", "counter", "Bytes of received messages", [
      ["", mail.bytes],
    ]),
  ]
}

function printLoopDelay({ delay, work }: LoopDelayReport): readonly string[] {
  return [
    ...printMetric(
      "hamlet_event_loop_delay_seconds",
      "histogram",
      "Delay of an event loop timer that fires 50 times a second",
      toBuckets("", delay),
    ),
    ...printMetric(
      "hamlet_event_loop_delay_max_seconds",
      "gauge",
      "Longest event loop delay since the start",
      [["", delay.maxSeconds]],
    ),
    ...printMetric(
      "hamlet_event_loop_work_seconds",
      "histogram",
      "CPU time of the thread within each event loop delay; the rest is waiting for a CPU",
      toBuckets("", work),
    ),
    ...printMetric(
      "hamlet_event_loop_work_max_seconds",
      "gauge",
      "Most CPU time within one event loop delay since the start",
      [["", work.maxSeconds]],
    ),
  ]
}
