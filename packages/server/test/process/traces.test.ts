import { expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { waitUntil } from "@hamlet/kit/testing"
import { FakeRegistry } from "@hamlet/npm/testing"
import { describePostgres } from "../support/databases.ts"
import { FakeBucket } from "../support/fakes/fake-bucket.ts"
import { type ReceivedSpan, startOtlpReceiver } from "../support/fakes/otlp-receiver.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const secret = "hunter2hunter2"

/** The spans from the root to the one with that name, as the collector can put them together. */
function toPath(spans: readonly ReceivedSpan[], last: ReceivedSpan | undefined): string {
  const path: string[] = []
  for (let span = last; span; span = spans.find(({ spanId }) => spanId === span?.parentId))
    path.unshift(span.name)
  return path.join(" > ")
}

describePostgres("hamlet serve with traces", (open) => {
  test("joins two vals, the database and another node in one trace", async () => {
    using receiver = startOtlpReceiver()
    await using fixture = await openServerFixture(open)
    const otel = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    }
    const two = await fixture.serve({
      ...otel,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_SERVICE_NAME: "node two",
    })
    const { port } = new URL(two.baseUrl)
    const one = await fixture.serve({ ...otel, HAMLET_EGRESS_ALLOW: `127.0.0.1:${port}` })
    const client = createClient({ baseUrl: one.baseUrl, token: chosenToken })
    const inner = await client.createVal({
      name: "inner",
      type: "http",
      privacy: "public",
      code: `export default async (request) => {
        const api = await fetch(Deno.env.get("HAMLET_URL") + "/v1/me?secret=${secret}", {
          headers: { authorization: "Bearer ${chosenToken}" } })
        const node = await fetch("http://127.0.0.1:${port}/v1/me?secret=${secret}", {
          headers: { authorization: "Bearer ${chosenToken}", traceparent: request.headers.get("traceparent").replace(/-[0-9a-f]{16}-/, "-00000000000000aa-") } })
        const other = await fetch("http://127.0.0.1:${port}/healthz", {
          headers: { traceparent: "00-" + "c".repeat(32) + "-00000000000000bb-01" } })
        return Response.json([api.status, node.status, other.status])
      }`,
    })
    const outer = await client.createVal({
      name: "outer",
      type: "http",
      privacy: "public",
      code: `export default async (request) => {
        const response = await fetch("${inner.links.endpoint}/${secret}?secret=${secret}")
        return Response.json([request.headers.get("traceparent"), await response.json()])
      }`,
    })
    const { host } = new URL(outer.links.endpoint ?? "")
    const response = await fetch(`${one.baseUrl}/${secret}?secret=${secret}`, {
      headers: { host, traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: "vendor=x" },
    })
    const body = await response.text()
    if (!body.startsWith("[")) throw new Error(body)
    const [traceparent, statuses] = JSON.parse(body) as [string, number[]]
    expect(statuses).toEqual([200, 200, 200])
    const queued = await client.createVal({
      name: "queued",
      code: `export default () => Deno.env.get("TRACEPARENT")`,
    })
    const run = await client.createRun({ val_id: queued.id }, { respondAsync: true })
    const ofTrace = () => receiver.spans.filter((span) => span.traceId === traceId)
    const ofRun = () => receiver.spans.filter((span) => span.traceId === run.id.replaceAll("-", ""))
    // Spans are sent a second late, each node its own.
    const isComplete = () =>
      ofTrace().some(({ parentId }) => parentId === "b7ad6b7169203331") &&
      ofTrace().filter(({ name }) => name === "val request").length === 2 &&
      ofTrace().filter(({ name }) => name === "GET /v1/me").length === 2 &&
      ofRun().some(({ parentId }) => parentId === "")
    await waitUntil(() => receiver.problems.length > 0 || isComplete())
    expect(receiver.problems).toEqual([])
    const spans = ofTrace()
    const paths = spans.map((span) => toPath(spans, span))
    const request = "val request"
    const toInner = `${request} > fetch > ${request}`
    expect(paths).toContain(`${request} > process`)
    expect(paths).toContain(`${toInner} > fetch > GET /v1/me > database read`)
    expect(paths.filter((path) => path.endsWith(request))).toEqual(
      expect.arrayContaining([request, toInner]),
    )
    // The val has named a span of its own, which the collector does not have.
    const joined = spans.find(({ parentId }) => parentId === "00000000000000aa")
    const remote = spans.find(({ parentId }) => parentId === joined?.spanId)
    expect([joined?.name, remote?.name]).toEqual(["fetch", "GET /v1/me"])
    expect([joined?.resource["service.name"], remote?.resource["service.name"]]).toEqual([
      "hamlet",
      "node two",
    ])
    // The run may have ended on the other node.
    const { returnValue } = await waitUntil(async () => {
      const found = await client.getRun({ run_id: run.id })
      return found.runEndAt !== null && found
    })
    expect(returnValue).toBe(
      `00-${run.id.replaceAll("-", "")}-${ofRun().find(({ name }) => name === "run")?.spanId}-01`,
    )
    // One that continues another trace is left alone.
    expect(receiver.spans.some((span) => span.traceId === "c".repeat(32))).toBe(false)
    const root = spans.find(({ parentId }) => parentId === "b7ad6b7169203331")
    expect(root).toMatchObject({
      name: request,
      kind: 2,
      state: "vendor=x",
      attributes: { "http.response.status_code": 200, "hamlet.val": "ada/outer" },
      resource: { "deployment.environment.name": "test" },
    })
    const ofVal = spans.find(({ spanId }) => traceparent.includes(spanId))
    expect(ofVal).toBe(root as ReceivedSpan)
    // A run of the queue has a trace of its own, on whichever node it was.
    expect(
      ofRun()
        .map((span) => toPath(ofRun(), span))
        .sort(),
    ).toEqual(expect.arrayContaining(["api", "api > queue", "api > run"]))
    const text = Bun.inspect(receiver.spans, { depth: 9 })
    for (const kept of [secret, chosenToken]) expect(text).not.toContain(kept)
    expect(new Set(receiver.requests.map(({ contentType }) => contentType))).toEqual(
      new Set(["application/json", "application/x-protobuf"]),
    )
    expect(receiver.requests[0]?.headers.get("x-key")).toBe("a key")
  })
  test("shows connections of vals, the bucket and the registry", async () => {
    using receiver = startOtlpReceiver()
    const [bucket, registry] = [new FakeBucket(), new FakeRegistry()]
    registry.publish("tiny", "1.0.0", { "index.js": "export default 7" }, { type: "module" })
    using peer = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end("bye") },
    })
    try {
      await using fixture = await openServerFixture(open)
      const { baseUrl } = await fixture.serve({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        HAMLET_S3_URL: bucket.url,
        HAMLET_NPM_REGISTRY: registry.npmUrl,
        HAMLET_EGRESS_ALLOW: `127.0.0.1:${peer.port}`,
        HAMLET_EGRESS_SOCKET_PORTS: `${peer.port}`,
      })
      const client = createClient({ baseUrl, token: chosenToken })
      const { id } = await client.createVal({
        name: "connects",
        code: `import seven from "npm:tiny@1"
          export default async (count) => {
            for (let done = 0; done < count; done++) {
              const socket = await Deno.connect({ hostname: "127.0.0.1", port: ${peer.port} })
              await socket.write(new TextEncoder().encode("${secret}"))
              await socket.read(new Uint8Array(9))
              socket.close()
            }
            return seven
          }`,
      })
      const run = await client.createRun({ val_id: id, args: [60] }, { respondAsync: true })
      const content = new Uint8Array(300_000)
      await client.putBlob({ key: "large", content })
      expect((await (await client.getBlob({ key: "large" })).bytes()).length).toBe(content.length)
      const pathsOf = (name: string) =>
        receiver.spans
          .filter((span) => span.name === name)
          .map((span) => toPath(receiver.spans, span))
      await waitUntil(async () => (await client.getRun({ run_id: run.id })).runEndAt !== null)
      const expected = {
        // The run lists 50 of its 60 connections.
        tcp: Array.from({ length: 50 }, () => "api > run > tcp"),
        "bucket write": ["POST /v1/blob/{key} > bucket write"],
        "bucket read": ["GET /v1/blob/{key} > bucket read"],
        "resolve packages": ["resolve packages"],
      }
      // A span is sent in a batch before that of its parent if it ends at the end of a second.
      const hasArrived = ([name, paths]: [string, readonly string[]]) =>
        pathsOf(name).filter((path) => path === paths[0]).length >= paths.length
      await waitUntil(
        () => receiver.problems.length > 0 || Object.entries(expected).every(hasArrived),
      )
      expect(receiver.problems).toEqual([])
      for (const [name, paths] of Object.entries(expected)) expect(pathsOf(name)).toEqual(paths)
      expect(receiver.spans.find(({ name }) => name === "tcp")).toMatchObject({
        kind: 3,
        error: undefined,
        attributes: { "server.address": "127.0.0.1", "server.port": peer.port },
      })
      expect(pathsOf("fetch")).toContain("resolve packages > fetch")
      const text = Bun.inspect(receiver.spans, { depth: 9 })
      for (const kept of [secret, chosenToken, "large"]) expect(text).not.toContain(kept)
    } finally {
      await bucket.stop()
      await registry.stop()
    }
  })
})
