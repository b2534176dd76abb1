import { Loop, readStart, type SpanCounts, type SpanSink, type TraceSpan } from "@hamlet/kit"
import { type SpanEncoding, spanLimits } from "./span-encoding.ts"

/** Where the spans go. */
export interface Collector {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** How long one request may take. */
  readonly timeoutMs: number
}

const defaults = {
  batchBytesMax: 512 * 1024,
  /** Spans beyond them are dropped: a collector that is away must not cost memory. */
  batchesMax: 16,
  /**
   * Spans that are written together. The code that writes one is not in the processor's caches after
   * a request, so that one alone takes twice as long.
   */
  writtenAtOnce: 64,
  /** How long a span waits for others. */
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

/** The body of a request to the collector, as far as it is written. */
interface Batch {
  readonly bytes: Buffer<ArrayBuffer>
  end: number
  spans: number
}

/**
 * Sends spans to a collector: one batch at a time, from a queue with a limit. Spans are written into
 * the last batch soon after they have ended, so that the queue refers to nothing that they know.
 */
export class TraceExporter implements SpanSink {
  readonly #collector: Collector
  readonly #encoding: SpanEncoding
  readonly #limits: TraceExporterLimits
  readonly #loop: Loop
  /** Spans that are not written yet. */
  #ended: TraceSpan[] = []
  #batches: Batch[] = []
  /** The last batch, while it takes spans. */
  #open: Batch | undefined
  /** The memory of a batch that was sent. */
  #spare: Buffer<ArrayBuffer> | undefined
  /** The attempts to send the first batch. */
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
    this.#loop = new Loop({ round: () => this.#sendDue(), failedMs, onError })
  }

  add(span: TraceSpan): void {
    const { writtenAtOnce, delayMs } = this.#limits
    const count = this.#ended.push(span)
    if (count >= writtenAtOnce) this.#write()
    else if (count === 1) this.#loop.wakeIn(delayMs)
  }

  #write(): void {
    for (const span of this.#ended) {
      const batch = this.#findRoom()
      if (batch) {
        batch.end = this.#encoding.write(batch.bytes, batch.end, span, this.#epochMs)
        batch.spans += 1
      } else this.#dropped += 1
    }
    this.#ended = []
  }

  /** The batch for the next span; undefined if the queue is full. */
  #findRoom(): Batch | undefined {
    const { batchBytesMax, batchesMax } = this.#limits
    const last = this.#open
    if (last && last.end <= batchBytesMax - spanLimits.bytesMax) return last
    if (this.#batches.length >= batchesMax) return undefined
    if (last) this.#loop.wakeIn(0)
    const bytes = this.#spare ?? Buffer.allocUnsafeSlow(batchBytesMax)
    this.#spare = undefined
    this.#open = { bytes, end: this.#encoding.begin(bytes), spans: 0 }
    this.#batches.push(this.#open)
    return this.#open
  }

  counts(): SpanCounts {
    return {
      exported: this.#exported,
      dropped: this.#dropped,
      failed: this.#failed,
      waitingBytes: this.#batches.reduce((sum, { end }) => sum + end, 0),
    }
  }

  /** Sends what is left, for a short time. */
  async stop(): Promise<void> {
    const { stopMsMax } = this.#limits
    this.#stopAtMs = performance.now() + stopMsMax
    const timer = setTimeout(() => this.#sending?.abort(), stopMsMax)
    await this.#loop.stop()
    this.#write()
    while (this.#batches.length > 0 && performance.now() < this.#stopAtMs)
      await this.#sendFirst().catch(() => {})
    clearTimeout(timer)
    for (const { spans } of this.#batches) this.#failed += spans
    this.#batches = []
    this.#open = undefined
  }

  /** Batches that begin meanwhile wait for more spans. */
  async #sendDue(): Promise<void> {
    this.#followClock()
    this.#write()
    for (let due = this.#batches.length; due > 0 && performance.now() < this.#stopAtMs; due--)
      await this.#sendFirst()
  }

  /** A batch leaves the queue when it was sent, or tried often enough. */
  async #sendFirst(): Promise<void> {
    const batch = this.#batches[0]
    if (!batch) return
    const { bytes, spans } = batch
    if (batch === this.#open) this.#open = undefined
    if (this.#attempts === 0) batch.end = this.#encoding.finish(bytes, batch.end)
    this.#attempts += 1
    try {
      const rejected = Math.min(await this.#send(bytes.subarray(0, batch.end)), spans)
      this.#exported += spans - rejected
      this.#failed += rejected
      this.#remove(batch)
    } catch (error) {
      if (error instanceof Refused || this.#attempts >= this.#limits.attemptsMax) {
        this.#failed += spans
        this.#remove(batch)
      }
      throw error
    }
  }

  #remove({ bytes }: Batch): void {
    this.#attempts = 0
    this.#batches.shift()
    this.#spare = bytes
  }

  /** Returns how many of the spans the collector has refused. */
  async #send(body: Uint8Array<ArrayBuffer>): Promise<number> {
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
        body,
        redirect: "manual",
        // A small response could be a large one otherwise.
        decompress: false,
        signal: sending.signal,
      })
      const start = await readStart(response.body, this.#limits.responseBytesMax)
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

  /** Times of spans are those of a clock that never jumps. It follows when the machine's has. */
  #followClock(): void {
    const epochMs = Date.now() - performance.now()
    if (Math.abs(epochMs - this.#epochMs) > this.#limits.clockStepMs) this.#epochMs = epochMs
  }
}

/** The statuses after which the specification wants another attempt. */
const retriedStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])
