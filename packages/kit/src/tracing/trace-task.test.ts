import { expect, test } from "bun:test"
import { traceTask } from "./trace-task.ts"
import { Tracer, type TraceSpan } from "./tracer.ts"
import { currentWork } from "./work.ts"

const id = "01981a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2b"
const newId = () => id

test("traceTask begins a trace for each call, of which the task's own spans are parts", async () => {
  const spans: TraceSpan[] = []
  const tracer = new Tracer(() => true, { add: (span) => spans.push(span) })
  const task = traceTask({ tracer, newId }, "send", "client", async (count: number) => {
    await Promise.resolve()
    currentWork()?.span?.addChild("part", "internal", performance.now())
    return count + 1
  })
  expect(await task(1)).toBe(2)
  expect(currentWork()).toBeUndefined()
  const [part, root] = spans
  expect(root).toMatchObject({ name: "send", kind: "client", traceId: id.replaceAll("-", "") })
  expect([root?.parentId, root?.error]).toEqual([undefined, undefined])
  expect([part?.name, part?.parentId, part?.traceId]).toEqual(["part", root?.spanId, root?.traceId])
})

test("traceTask passes an error on, of which the span has the name only", async () => {
  const spans: TraceSpan[] = []
  const tracer = new Tracer(() => true, { add: (span) => spans.push(span) })
  const task = traceTask({ tracer, newId }, "send", "client", async () => {
    throw new TypeError("hunter2")
  })
  await expect(task()).rejects.toThrow("hunter2")
  expect(spans.map(({ name, error }) => [name, error])).toEqual([["send", "TypeError"]])
})

test("traceTask is the task itself where traces are off", () => {
  const task = async () => {}
  expect(traceTask({ tracer: undefined, newId }, "send", "client", task)).toBe(task)
})
