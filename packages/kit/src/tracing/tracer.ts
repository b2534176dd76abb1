import { newSpanId, type TraceContext, toTraceparent } from "./trace-context.ts"

/** The part of a span in the exchange of two programs; `internal` for work inside this one. */
export type SpanKind = "internal" | "server" | "client" | "consumer"

/** What a span says about its work. Never a token, a secret, a body, a path or a query. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** Takes the spans that have ended. It must neither wait nor throw. */
export interface SpanSink {
  add(span: TraceSpan): void
}

/** The spans of this process since its start, for the metrics. */
export interface SpanCounts {
  readonly exported: number
  /** The queue was full. */
  readonly dropped: number
  /** The collector was away, or has refused them. */
  readonly failed: number
  readonly waitingBytes: number
}

/** Decides whether a trace is recorded. */
export type Sampler = (traceId: string, parent: TraceContext | undefined) => boolean

/** How a span begins. */
export interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  readonly parent?: TraceContext | undefined
  /** The trace of a span without a parent. */
  readonly traceId: string
}

/** Begins traces and continues those of other programs. There is none where traces are off. */
export class Tracer {
  readonly #sample: Sampler
  readonly #sink: SpanSink

  constructor(sample: Sampler, sink: SpanSink) {
    this.#sample = sample
    this.#sink = sink
  }

  start({ name, kind, parent, traceId: ownId }: SpanStart): TraceSpan {
    const traceId = parent?.traceId ?? ownId
    return new TraceSpan(this.#sink, name, kind, traceId, parent, this.#sample(traceId, parent))
  }
}

/** A piece of work in a trace. One that is not sampled is not recorded, but its ids are passed on. */
export class TraceSpan implements TraceContext {
  readonly spanId = newSpanId()
  readonly parentId: string | undefined
  readonly state: string
  /** On the clock of `performance.now`. */
  startMs = performance.now()
  endMs: number | undefined
  attributes: Attributes = {}
  /** Why the work failed; undefined if it did not. */
  error: string | undefined
  readonly #sink: SpanSink

  constructor(
    sink: SpanSink,
    public name: string,
    readonly kind: SpanKind,
    readonly traceId: string,
    parent: TraceContext | undefined,
    readonly isSampled: boolean,
  ) {
    this.#sink = sink
    this.parentId = parent?.spanId
    this.state = parent?.state ?? ""
  }

  get traceparent(): string {
    return toTraceparent(this)
  }

  /** `parent` is another span of the same trace, such as one of the val's own. */
  child(name: string, kind: SpanKind, parent: TraceContext = this): TraceSpan {
    return new TraceSpan(this.#sink, name, kind, this.traceId, parent, this.isSampled)
  }

  /** Adds a child that ends now. */
  addChild(
    name: string,
    kind: SpanKind,
    startMs: number,
    attributes?: Attributes,
    error?: string,
  ): void {
    if (!this.isSampled) return
    const child = this.child(name, kind)
    child.startMs = startMs
    child.end(attributes, error)
  }

  /** Later calls are ignored. */
  end(attributes?: Attributes, error?: string): void {
    if (this.endMs !== undefined) return
    this.endMs = performance.now()
    if (attributes) this.attributes = attributes
    this.error ??= error
    if (this.isSampled) this.#sink.add(this)
  }
}
