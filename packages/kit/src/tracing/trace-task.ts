import { toTraceId } from "./trace-context.ts"
import type { SpanKind, Tracer } from "./tracer.ts"
import { runWork, Work } from "./work.ts"

/** What a task of the background needs to have a trace. */
export interface TaskTracing {
  readonly tracer: Tracer | undefined
  newId(): string
}

/** Gives a task a trace for each call; returns the task itself where traces are off. */
export function traceTask<Args extends readonly unknown[], Result>(
  { tracer, newId }: TaskTracing,
  name: string,
  kind: SpanKind,
  task: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  if (!tracer) return task
  return async (...args) => {
    const span = tracer.start({ name, kind, traceId: toTraceId(newId()) })
    try {
      const result = await runWork(new Work(span), () => task(...args))
      span.end()
      return result
    } catch (error) {
      // Its message may have data of users.
      span.end({}, error instanceof Error ? error.name : "Error")
      throw error
    }
  }
}
