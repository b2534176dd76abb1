import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Output } from "@hamlet/contract/client"
import { findPathProblem } from "@hamlet/contract/file-paths"
import type { AppStage, Person } from "../dev/app-stage.ts"
import { templates } from "../src/app/templates/catalog.ts"
import { fileTemplates } from "../src/app/templates/file-templates.ts"
import { sources } from "../src/app/templates/sources.ts"
import type { TemplateSource } from "../src/app/templates/template.ts"
import { noteNotRun } from "./support/describe-in-browser.ts"
import { eventually } from "./support/eventually.ts"
import { emptyStage, useSharedStage } from "./support/shared-app.ts"

type Val = Output<"getVal">

/** A registry on a busy machine takes long; nothing else here does. */
const limits = { lockMs: 120_000, testMs: 240_000, pauseMs: 100 }
describe("templates", () => {
  let stage: AppStage
  let ada: Person
  let hasRegistry = false
  beforeAll(async () => {
    stage = await useSharedStage()
    ada = await stage.person("ada")
    const code = 'import "npm:ms"\nexport default 1'
    const probe = await ada.client.createVal({ name: "probe", code })
    hasRegistry = (await waitForLock(probe, ada)).state === "ready"
    if (!hasRegistry) noteNotRun("templates with packages: the registry cannot be reached")
  }, limits.testMs)
  afterAll(() => emptyStage(stage))

  test("have their code, and no other code is there", () => {
    expect(Object.keys(sources).toSorted()).toEqual(templates.map(({ key }) => key).toSorted())
    expect(Object.keys(proofs).toSorted()).toEqual(Object.keys(sources).toSorted())
    for (const { files } of Object.values(sources))
      for (const { path, content } of files) {
        expect(findPathProblem(path)).toBeUndefined()
        // Other servers may be unreachable, or gone.
        expect(content).not.toMatch(/(?:from|src=|href=) ?"https?:/)
        expect(content.split("\n").length).toBeLessThan(120)
      }
    expect(templates.map(({ key, files = 1 }) => [key, files])).toEqual(
      templates.map(({ key }) => [key, sources[key]?.files.length ?? 0]),
    )
  })

  test("a file from a template has a path, and its type from it", () => {
    expect(fileTemplates.map(({ type }) => type)).toEqual([
      "script",
      "http",
      "interval",
      "email",
      "script",
      "http",
      "script",
      "file",
      "file",
      "file",
    ])
    for (const { path, content } of fileTemplates) {
      expect(findPathProblem(path)).toBeUndefined()
      expect(content).toEndWith("\n")
    }
  })

  for (const { key, title } of templates) {
    const source = sources[key] as TemplateSource
    test(
      `${title} works as it is`,
      async () => {
        if (source.usesPackages && !hasRegistry) return
        const val = await create(source, ada)
        const { state, imports } = await waitForLock(val, ada)
        expect({ state, errors: imports.flatMap(({ error }) => error ?? []) }).toEqual({
          state: source.usesPackages ? "ready" : "none",
          errors: [],
        })
        await proofs[key]?.(val, ada)
      },
      limits.testMs,
    )
  }
})

/** Does what the app does. */
async function create({ name, privacy, files, schedules }: TemplateSource, { client }: Person) {
  const { id } = await client.createFolder({ name, privacy })
  const { version, warnings } = await client.changeFiles({ val_id: id, changes: [...files] })
  expect({ version, warnings }).toEqual({ version: 1, warnings: [] })
  for (const schedule of schedules ?? []) await client.putSchedule({ val_id: id, ...schedule })
  const val = await client.getVal({ val_id: id })
  expect(val.type).toBe(files[0]?.type as Val["type"])
  return val
}

async function waitForLock({ id }: Val, { client }: Person) {
  for (const until = Date.now() + limits.lockMs; ; await Bun.sleep(limits.pauseMs)) {
    const lock = await client.getVersionLock({ val_id: id, version: 1 })
    if (lock.state !== "pending" || Date.now() > until) return lock
  }
}

const open = (val: Val, path = "/", init?: RequestInit) =>
  fetch(new URL(path, val.links.endpoint), { redirect: "manual", ...init })
const postForm = (val: Val, fields: Record<string, string>) =>
  open(val, "/", { method: "POST", body: new URLSearchParams(fields) })
const postJson = (val: Val, body: unknown, headers: Record<string, string> = {}) =>
  open(val, "/", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  })

/** What each template does. */
const proofs: Readonly<Record<string, (val: Val, who: Person) => Promise<void>>> = {
  async page(val) {
    const text = await (await open(val, `/?name=${encodeURIComponent("<b>")}`)).text()
    expect(text).toContain("Hello, &#60;b&#62;!")
  },
  async guestbook(val) {
    expect((await postForm(val, { name: "Ada", message: "" })).status).toBe(400)
    expect((await postForm(val, { name: "Ada", message: "<i>Hello</i>" })).status).toBe(303)
    expect(await (await open(val)).text()).toContain("&#60;i&#62;Hello")
  },
  async script({ id }, { client }) {
    const { status, returnValue } = await client.createRun({ val_id: id, args: [6, 4] })
    expect(status).toBe("succeeded")
    expect((returnValue as { rolls: unknown[] }).rolls).toHaveLength(4)
  },
  async report({ id }, { client }) {
    const { status, returnValue, error } = await client.createRun({ val_id: id })
    expect({ status, error }).toEqual({ status: "succeeded", error: null })
    expect(returnValue).toMatch(/^Since yesterday: \d+ runs, \d+ failed/)
  },
  async chat(val) {
    expect(await (await open(val)).text()).toContain("<h1>Chat</h1>")
    const sockets = [await connect(val), await connect(val)] as const
    sockets[0].socket.send("hello, all")
    await eventually(
      async () => sockets.map(({ received }) => [...received]),
      (received) => expect(received).toEqual([["hello, all"], ["hello, all"]]),
    )
    for (const { socket } of sockets) socket.close()
  },
  async shortener(val) {
    expect((await postForm(val, { url: "javascript:alert(1)" })).status).toBe(400)
    expect((await postForm(val, { url: "https://example.com/long" })).status).toBe(303)
    const [, path = ""] = /href="(\/[0-9a-f]{6})"/.exec(await (await open(val)).text()) ?? []
    const followed = await open(val, path)
    expect([followed.status, followed.headers.get("location")]).toEqual([
      302,
      "https://example.com/long",
    ])
    expect((await open(val, "/nothing")).status).toBe(404)
  },
  async api(val) {
    expect(await (await open(val)).json()).toEqual({ count: 0 })
    expect(await (await open(val, "/", { method: "POST" })).json()).toEqual({ count: 1 })
    expect(await (await open(val)).json()).toEqual({ count: 1 })
  },
  async webhook(val, { client }) {
    expect((await postJson(val, { event: "push" })).status).toBe(204)
    await client.putSecret({ name: "WEBHOOK_SECRET", value: "s3cret" })
    const body = JSON.stringify({ event: "signed" })
    const signature = new Bun.CryptoHasher("sha256", "s3cret").update(body).digest("hex")
    const send = (value: string) =>
      open(val, "/", { method: "POST", body, headers: { "x-hub-signature-256": value } })
    expect((await send(`sha256=${"0".repeat(64)}`)).status).toBe(401)
    expect((await send("nonsense")).status).toBe(401)
    expect((await send(`sha256=${signature}`)).status).toBe(204)
    const events = ((await (await open(val)).json()) as { body: { event: string } }[]).map(
      ({ body: { event } }) => event,
    )
    expect(events).toEqual(["signed", "push"])
  },
  async inbox({ id }, { client }) {
    const { id: runId } = await client.sendTestEmail({
      val_id: id,
      subject: "Hello",
      text: "three short words",
    })
    await eventually(
      () => client.getRun({ run_id: runId }),
      ({ returnValue }) => expect(returnValue).toEqual({ mails: 1, words: 3 }),
    )
  },
  async zod(val) {
    const order = { product: "tea", quantity: 2, email: "ada@example.com" }
    expect((await postJson(val, order)).status).toBe(201)
    const refused = await postJson(val, { ...order, quantity: 0 })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain("quantity")
  },
  async react(val) {
    expect(await (await open(val)).text()).toContain("<h1>2 tasks left</h1>")
  },
  async rss(val) {
    expect(await (await open(val)).text()).toContain("The first note")
    const feed = await open(val, "/feed.xml")
    expect(feed.headers.get("content-type")).toStartWith("application/rss+xml")
    expect(await feed.text()).toContain("XML &#38; still useful")
  },
  async app(val) {
    const items = () => open(val, "/api/items").then((response) => response.json())
    const send = (method: string, path: string, body: unknown) =>
      open(val, `/api/items${path}`, { method, body: JSON.stringify(body) })
    expect(await (await open(val)).text()).toContain('src="/client/app.ts"')
    for (const path of ["/client/app.ts", "/shared/item.ts"]) {
      const script = await open(val, path)
      expect(script.headers.get("content-type")).toStartWith("text/javascript")
      expect(await script.text()).not.toContain(": string")
    }
    for (const path of ["/main.ts", "/README.md", "/client/none.ts"])
      expect([path, (await open(val, path)).status]).toEqual([path, 404])
    expect((await send("POST", "", { name: "tea" })).status).toBe(201)
    expect((await send("POST", "", { name: " " })).status).toBe(400)
    expect((await send("POST", "", 1)).status).toBe(400)
    await send("PUT", "/1", { isDone: true })
    expect(await items()).toEqual([{ id: 1, name: "tea", isDone: true }])
    await send("DELETE", "/1", {})
    expect(await items()).toEqual([])
  },
  async hono(val) {
    expect(await (await open(val)).text()).toContain('src="/app.js"')
    expect((await open(val, "/style.css")).headers.get("content-type")).toStartWith("text/css")
    expect((await open(val, "/main.ts")).status).toBe(404)
    expect(await (await open(val, "/api/colours?mood=warm")).json()).toHaveLength(3)
    expect(await (await open(val, "/api/colours/moss")).json()).toMatchObject({ hex: "#5c7a3d" })
    expect((await open(val, "/api/colours/none")).status).toBe(404)
    const random = await open(val, "/api/colours/random")
    expect(random.headers.get("access-control-allow-origin")).toBe("*")
    expect(await random.json()).toHaveProperty("mood")
  },
  async reports(val, { client }) {
    expect(await (await open(val)).text()).toContain("There is none yet")
    const run = () => client.createRun({ val_id: val.id, file: "report.ts" })
    const { status, returnValue, error } = await run()
    expect({ status, error }).toEqual({ status: "succeeded", error: null })
    expect(returnValue).toMatch(/^Since yesterday: \d+ runs\n\d+ failed\n/)
    expect((await run()).returnValue).toMatch(/^Since yesterday: \d+ runs/)
    expect((await (await open(val)).text()).split("<tr>")).toHaveLength(4)
    const { cron } = await client.getSchedule({ val_id: val.id, file: "report.ts" })
    expect(cron).toBe("0 7 * * *")
  },
  async signup(val, { client }) {
    const ada = { name: "=Ada, <b>", email: "Ada@example.com", seats: "2" }
    expect(await (await open(val)).text()).toContain("40 seats are left")
    expect((await open(val, "/style.css")).headers.get("content-type")).toStartWith("text/css")
    const wrong = await postForm(val, { ...ada, seats: "9", email: '"><script>' })
    expect(wrong.status).toBe(400)
    const page = await wrong.text()
    expect(page).toContain("Choose 1 to 5 seats")
    expect(page).not.toContain("<script>")
    expect((await postForm(val, ada)).status).toBe(303)
    expect((await postForm(val, ada)).status).toBe(409)
    expect(await (await open(val, "/?done")).text()).toContain("38 seats are left")
    const run = (file: string) => client.createRun({ val_id: val.id, file })
    expect((await run("export.ts")).returnValue).toStartWith(
      `name,email,seats,at\r\n"'=Ada, <b>",ada@example.com,2,`,
    )
    expect((await run("cleanup.ts")).returnValue).toBe("0 sign-ups deleted")
  },
  async mcp(val) {
    const call = async (method: string, params: object) => {
      const accept = { accept: "application/json, text/event-stream" }
      return (await postJson(val, { jsonrpc: "2.0", id: 1, method, params }, accept)).json()
    }
    const client = { name: "test", version: "1" }
    expect(
      await call("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: client,
      }),
    ).toMatchObject({ result: { serverInfo: { name: "hamlet" } } })
    expect(
      await call("tools/call", { name: "days_until", arguments: { date: "2000-01-01" } }),
    ).toMatchObject({ result: { content: [{ text: expect.stringMatching(/^-\d+ days$/) }] } })
  },
}

async function connect(val: Val) {
  const socket = new WebSocket((val.links.endpoint ?? "").replace(/^http/, "ws"))
  const received: string[] = []
  socket.onmessage = ({ data }) => received.push(String(data))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error("the socket was refused"))
  })
  return { socket, received }
}
