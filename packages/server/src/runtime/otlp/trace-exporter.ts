import { Loop } from "../../shared/loop.ts"
import type { SpanCounts, SpanSink, TraceSpan } from "../../shared/tracing/tracer.ts"
import type { SpanEncoding } from "./span-encoding.ts"

/** Where the spans go. */
export interface Collector {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** How long one request may take. */
  readonly timeoutMs: number
}

const defaults = {
  /** Spans beyond it are dropped: a collector that is away must not cost memory. */
  queueBytesMax: 8 * 1024 * 1024,
  batchBytesMax: 512 * 1024,
  /** How long spans wait for others. */
  delayMs: 1_000,
  failedMs: 5_000,
  /** Attempts to send a batch. */
  attemptsMax: 4,
  /** The rest of a response is not read. */
  responseBytesMax: 4_096,
  /** How long the last spans may take when the server stops. */
  stopMsMax: 2_000,
  /** By how much the clocks may differ before times of spans follow the clock of the machine. */
  clockStepMs: 20,
}

/** The limits of the exporter. */
export type TraceExporterLimits = typeof defaults

/** The collector has refused a batch, which would be refused again. */
class Refused extends Error {}

/**
 * Sends spans to a collector: one batch at a time, from a queue with a limit. Spans are written when
 * they end, so that the queue holds bytes and nothing that they refer to.
 */
export class TraceExporter implements SpanSink {
  readonly #collector: Collector
  readonly #encoding: SpanEncoding
  readonly #limits: TraceExporterLimits
  readonly #loop: Loop
  #queue: Uint8Array[] = []
  #queueBytes = 0
  /** The attempts to send the first spans of the queue. */
  #attempts = 0
  #sending: AbortController | undefined
  #epochMs = performance.timeOrigin
  #stopAtMs = Number.POSITIVE_INFINITY
  #exported = 0
  #dropped = 0
  #failed = 0

  constructor(
    collector: Collector,
    encoding: SpanEncoding,
    onError: (error: unknown) => void,
    limits: Partial<TraceExporterLimits> = {},
  ) {
    this.#collector = collector
    this.#encoding = encoding
    this.#limits = { ...defaults, ...limits }
    const { failedMs } = this.#limits
    const pollMs = Number.POSITIVE_INFINITY
    this.#loop = new Loop({ round: () => this.#sendAll(), pollMs, failedMs, onError })
    this.#loop.start(pollMs)
  }

  add(span: TraceSpan): void {
    const { queueBytesMax, batchBytesMax, delayMs } = this.#limits
    if (this.#queueBytes >= queueBytesMax) {
      this.#dropped += 1
      return
    }
    const bytes = this.#encoding.encode(span, this.#epochMs)
    this.#queue.push(bytes)
    this.#queueBytes += bytes.length
    this.#loop.wakeIn(this.#queueBytes >= batchBytesMax ? 0 : delayMs)
  }

  counts(): SpanCounts {
    return {
      exported: this.#exported,
      dropped: this.#dropped,
      failed: this.#failed,
      waitingBytes: this.#queueBytes,
    }
  }

  /** Sends what is left, for a short time. */
  async stop(): Promise<void> {
    const { stopMsMax } = this.#limits
    this.#stopAtMs = performance.now() + stopMsMax
    const timer = setTimeout(() => this.#sending?.abort(), stopMsMax)
    await this.#loop.stop()
    while (this.#queue.length > 0 && performance.now() < this.#stopAtMs)
      await this.#sendBatch().catch(() => {})
    clearTimeout(timer)
    this.#failed += this.#queue.length
    this.#queue = []
  }

  async #sendAll(): Promise<void> {
    this.#followClock()
    while (this.#queue.length > 0 && performance.now() < this.#stopAtMs) await this.#sendBatch()
  }

  /** Sends the first spans of the queue. They leave it when they were sent, or tried often enough. */
  async #sendBatch(): Promise<void> {
    const { batchBytesMax, attemptsMax } = this.#limits
    let bytes = 0
    const end = this.#queue.findIndex((span) => {
      bytes += span.length
      return bytes > batchBytesMax
    })
    const batch = this.#queue.slice(0, end < 0 ? undefined : Math.max(1, end))
    this.#attempts += 1
    try {
      const rejected = Math.min(await this.#send(batch), batch.length)
      this.#exported += batch.length - rejected
      this.#failed += rejected
      this.#remove(batch)
    } catch (error) {
      if (error instanceof Refused || this.#attempts >= attemptsMax) {
        this.#failed += batch.length
        this.#remove(batch)
      }
      throw error
    }
  }

  #remove(batch: readonly Uint8Array[]): void {
    this.#attempts = 0
    this.#queue.splice(0, batch.length)
    for (const span of batch) this.#queueBytes -= span.length
  }

  /** Returns how many of the spans the collector has refused. */
  async #send(batch: readonly Uint8Array[]): Promise<number> {
    const { url, headers, timeoutMs } = this.#collector
    const sending = new AbortController()
    this.#sending = sending
    const timer = setTimeout(
      () => sending.abort(),
      Math.min(timeoutMs, this.#stopAtMs - performance.now()),
    )
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": this.#encoding.contentType },
        body: this.#encoding.toBody(batch),
        redirect: "manual",
        // A small response could be a large one otherwise.
        decompress: false,
        signal: sending.signal,
      })
      const start = await this.#readStart(response)
      if (response.ok) return this.#encoding.countRejected(start)
      const reason = `Cannot send spans: the collector responded with ${response.status}`
      throw retriedStatuses.has(response.status) ? new Error(reason) : new Refused(reason)
    } catch (error) {
      if (sending.signal.aborted)
        throw new Error("Cannot send spans: the collector did not respond in time")
      throw error
    } finally {
      clearTimeout(timer)
      this.#sending = undefined
    }
  }

  async #readStart({ body }: Response): Promise<Uint8Array> {
    if (body === null) return new Uint8Array()
    const reader = body.getReader()
    const parts: Uint8Array[] = []
    let bytes = 0
    while (bytes < this.#limits.responseBytesMax) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      bytes += value.length
    }
    void reader.cancel().catch(() => {})
    return Buffer.concat(parts).subarray(0, this.#limits.responseBytesMax)
  }

  /** Times of spans are those of a clock that never jumps. It follows when the machine's has. */
  #followClock(): void {
    const epochMs = Date.now() - performance.now()
    if (Math.abs(epochMs - this.#epochMs) > this.#limits.clockStepMs) this.#epochMs = epochMs
  }
}

/** The statuses after which the specification wants another attempt. */
const retriedStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])
