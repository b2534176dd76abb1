import { currentWork, type Tracer, type TraceSpan, toTraceId, Work } from "@hamlet/kit"
import type { NewRun } from "./new-run.ts"
import type { RunRecord } from "./runs.ts"

/**
 * The spans of a run. A run is a part of the request that waits for it. A run of the queue begins a
 * trace whose id has the digits of the run's id, as in the API of traces.
 *
 *   request ──┬── queue      it waited for others
 *   or root   ├── process    it waited for a process to start
 *             └── run ────── requests that it sends
 *
 * A request to a val is the run itself, and most end with their response. Of another, such as a
 * WebSocket, there is one more span, `response`: from the start of the response to the end of the run.
 */
export class RunSpans {
  readonly work: Work
  /** The span of the run's code. */
  readonly span: TraceSpan
  /** The span around a run that no request waits for. */
  readonly #root: TraceSpan | undefined
  readonly #isRequest: boolean

  constructor(tracer: Tracer, { id, source, work = currentWork() ?? new Work() }: NewRun) {
    if (!work.span) {
      this.#root = tracer.start({ name: source, kind: "consumer", traceId: toTraceId(id) })
      work.span = this.#root
    }
    this.work = work
    this.#isRequest = source === "http" && !this.#root
    this.span = this.#isRequest ? work.span : work.span.child("run", "internal")
  }

  /** Its code begins. `queuedMs` is how long it was in the queue. */
  begin(queuedMs: number): void {
    if (this.#isRequest) return
    const nowMs = performance.now()
    this.span.startMs = nowMs
    if (queuedMs <= 0) return
    const queuedAtMs = nowMs - queuedMs
    if (this.#root) this.#root.startMs = queuedAtMs
    this.work.noteWait("queue", queuedAtMs)
  }

  end({ id, valId, source, status, error }: RunRecord): void {
    const attributes = {
      "hamlet.run.id": id,
      "hamlet.run.source": source,
      "hamlet.run.status": status,
      "hamlet.val.id": valId,
    }
    // Its message may have data of the val's users.
    const failure = status === "succeeded" ? undefined : (error?.name ?? status)
    if (!this.#isRequest) this.span.end(attributes, failure)
    else if (this.span.endMs === undefined) this.span.error = failure
    else this.span.addChild("response", "internal", this.span.endMs, attributes, failure)
    this.#root?.end(attributes, failure)
  }
}
