import { describe, expect, test } from "bun:test"
import { parseTraceparent, Tracer } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { startOtlpReceiver } from "../../../test/support/fakes/otlp-receiver.ts"
import { createJsonEncoding } from "./json-encoding.ts"
import { createProtobufEncoding } from "./protobuf-encoding.ts"
import { TraceExporter, type TraceExporterLimits } from "./trace-exporter.ts"

const traceId = "0123456789abcdef0123456789abcdef"
const source = { attributes: { "service.name": "tests" }, version: "1.2.3" }
const encodings = { json: createJsonEncoding, protobuf: createProtobufEncoding } as const

function openExporter(
  url: string,
  limits: Partial<TraceExporterLimits> = {},
  format: keyof typeof encodings = "protobuf",
  timeoutMs = 60_000,
) {
  const errors: string[] = []
  const exporter = new TraceExporter(
    { url: `${url}/v1/traces`, headers: { "x-key": "hunter2" }, timeoutMs },
    encodings[format](source),
    (error) => errors.push(error instanceof Error ? error.message : String(error)),
    { delayMs: 0, failedMs: 1, stopMsMax: 60_000, ...limits },
  )
  const tracer = new Tracer(() => true, exporter)
  const addSpan = () => tracer.start({ name: "work", kind: "internal", traceId }).end()
  return { exporter, tracer, addSpan, errors }
}

/** A collector that responds as the test wants. */
function serve(fetch: () => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

describe.each(["json", "protobuf"] as const)("TraceExporter in %s", (format) => {
  test("sends spans that the specification allows, with hostile values cut", async () => {
    using receiver = startOtlpReceiver()
    const { exporter, tracer, errors } = openExporter(receiver.url, {}, format)
    const parent = parseTraceparent(`00-${traceId}-1111111111111111-01`, "vendor=a")
    const span = tracer.start({ name: "é".repeat(5_000), kind: "server", parent, traceId: "" })
    span.addChild("child", "client", span.startMs, { text: "\u0000\ud800\u2028", double: -0.5 })
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`key${index}`, "\u20ac".repeat(100_000)]),
    )
    span.end({ number: 200, nothing: undefined, ...many }, "x".repeat(100_000))
    await waitUntil(() => receiver.spans.length + receiver.problems.length === 2)
    await exporter.stop()
    expect([receiver.problems, errors]).toEqual([[], []])
    const [child, root] = receiver.spans
    expect(root).toMatchObject({
      traceId,
      parentId: "1111111111111111",
      state: "vendor=a",
      kind: 2,
    })
    expect(root?.name).toBe("é".repeat(200))
    expect(root?.error).toBe("x".repeat(1_000))
    expect(Object.keys(root?.attributes ?? {})).toHaveLength(16)
    expect(root?.attributes).toMatchObject({ number: 200, key0: "\u20ac".repeat(1_000) })
    expect(child).toMatchObject({ parentId: span.spanId, kind: 3, attributes: { double: -0.5 } })
    expect(root?.resource).toEqual({ "service.name": "tests" })
    expect(receiver.requests[0]?.headers.get("x-key")).toBe("hunter2")
    expect(exporter.counts()).toEqual({ exported: 2, dropped: 0, failed: 0, waitingBytes: 0 })
  })

  test("counts the spans that the collector says it has refused", async () => {
    const partial = {
      json: Buffer.from('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"full"}}'),
      protobuf: Buffer.from([0x0a, 0x02, 0x08, 0x02]),
    }
    using collector = serve(() => new Response(partial[format]))
    const { exporter, addSpan } = openExporter(collector.url, { delayMs: 3_600_000 }, format)
    for (let count = 0; count < 3; count++) addSpan()
    await exporter.stop()
    expect(exporter.counts()).toMatchObject({ exported: 1, failed: 2 })
  })
})

describe("TraceExporter", () => {
  test("drops spans beyond its memory, and counts them, while the collector does not respond", async () => {
    using collector = serve(() => new Promise<Response>(() => {}))
    const limits = { batchesMax: 2, batchBytesMax: 262_144, stopMsMax: 1 }
    const { exporter, addSpan } = openExporter(collector.url, limits)
    for (let count = 0; count < 10_000; count++) addSpan()
    expect(exporter.counts().waitingBytes).toBeLessThan(2 * 262_144)
    await exporter.stop()
    const { exported, dropped, failed } = exporter.counts()
    expect(dropped).toBeGreaterThan(5_000)
    expect([exported, failed]).toEqual([0, 10_000 - dropped])
  })

  test("gives up a request that takes too long, and spans that were tried often enough", async () => {
    using collector = serve(() => new Promise<Response>(() => {}))
    const { exporter, addSpan, errors } = openExporter(collector.url, {}, "protobuf", 1)
    addSpan()
    await waitUntil(() => exporter.counts().failed === 1)
    await exporter.stop()
    // Reported once, not for each attempt.
    expect(errors).toEqual(["Cannot send spans: the collector did not respond in time"])
  })

  test("tries again when the collector is busy, and not when it refuses", async () => {
    const statuses = [503, 429, 200, 401, 307]
    let requests = 0
    using collector = serve(() => {
      const status = statuses[requests++] ?? 200
      return new Response("", { status, headers: { location: "http://127.0.0.1:1/" } })
    })
    const { exporter, addSpan, errors } = openExporter(collector.url)
    addSpan()
    await waitUntil(() => exporter.counts().exported === 1)
    for (const failed of [1, 2]) {
      addSpan()
      await waitUntil(() => exporter.counts().failed === failed)
    }
    addSpan()
    await waitUntil(() => exporter.counts().exported === 2)
    await exporter.stop()
    expect(requests).toBe(6)
    expect(errors.join()).not.toContain("hunter2")
    expect(errors.map((text) => text.slice(-3))).toEqual(["503", "429", "401", "307"])
  })

  test("reads little of a response, whatever it is", async () => {
    let sent = 0
    using collector = serve(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 65_536
              controller.enqueue(new Uint8Array(65_536).fill(0x5b))
            },
          }),
          { headers: { "content-encoding": "gzip" } },
        ),
    )
    const { exporter, addSpan } = openExporter(collector.url, {}, "json")
    addSpan()
    await waitUntil(() => exporter.counts().exported === 1)
    await exporter.stop()
    // What the sockets hold, and not gigabytes.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test("stop sends what is left, and a collector that is away does not hold it up", async () => {
    using receiver = startOtlpReceiver()
    const late = openExporter(receiver.url, { delayMs: 3_600_000 })
    late.addSpan()
    await late.exporter.stop()
    expect(receiver.spans).toHaveLength(1)
    using collector = serve(() => new Promise<Response>(() => {}))
    const away = openExporter(collector.url, { stopMsMax: 10 })
    away.addSpan()
    await away.exporter.stop()
    expect(away.exporter.counts()).toMatchObject({ exported: 0, failed: 1 })
  })
})
