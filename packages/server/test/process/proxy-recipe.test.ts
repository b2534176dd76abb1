import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import {
  type Authority,
  createAuthority,
  findFreePort,
  notRun,
  waitUntil,
} from "@hamlet/kit/testing"
import { loadConfig } from "../../src/config/config.ts"
import { checkExposure } from "../../src/doctor/checks/check-exposure.ts"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import {
  createProxyClient,
  type ProxyClient,
  waitForPort,
} from "../support/proxies/proxy-client.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

// What docs/self-hosting.md tells an operator to type and to write, as it stands there but for
// ports and the place of the certificate.
const page = readFileSync(new URL("../../../../docs/self-hosting.md", import.meta.url), "utf8")
const section = page.slice(page.indexOf("## Behind a proxy"), page.indexOf("## Addresses of vals"))
const settings = Object.fromEntries(
  [...readBlock("sh").matchAll(/^(HAMLET_\w+)=(\S+) \\$/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]),
)
const names = /server_name (.+);/.exec(readBlock("nginx"))?.[1]?.split(" ") ?? []
const { host } = new URL(settings.HAMLET_BASE_URL ?? "")
const valHost = (name: string) => `ada-${name}.${settings.HAMLET_VALS_DOMAIN}`

const nginx = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` })
if (!nginx) notRun("the proxy recipe of docs/self-hosting.md", "nginx is not installed")

function readBlock(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? ""
}

test("doctor accepts the settings of the proxy recipe", () => {
  expect(checkExposure(loadConfig(settings, []))).toEqual([
    {
      check: "exposure",
      status: "ok",
      found: "for others, at https://hamlet.example.org, with rate limits",
      mend: null,
    },
  ])
})

describe.if(nginx !== null)("the proxy recipe of docs/self-hosting.md", () => {
  let proxy: Proxy
  let fixture: ServerFixture
  let hamlet: HamletProcess
  let serverPort: number
  beforeAll(async () => {
    fixture = await openServerFixture()
    serverPort = await findFreePort()
    ;({ hamlet } = await fixture.serve({
      ...settings,
      HAMLET_PORT: String(serverPort),
      HAMLET_RATE_PER_ADDRESS: "60",
    }))
    proxy = await openProxy(serverPort)
    const client = createClient({ baseUrl: `http://127.0.0.1:${serverPort}`, token: chosenToken })
    for (const [name, code] of Object.entries(vals))
      await client.createVal({ name, code, type: "http", privacy: "public" })
    // The tests are not about a machine that is too busy to start a process in time.
    for (const name of Object.keys(vals))
      await waitUntil(async () => {
        const first = await proxy.fetch(valHost(name), "/")
        await first.body?.cancel()
        return first.status !== 503
      })
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    hamlet?.signal("SIGTERM")
    await hamlet?.ended()
    await fixture?.[Symbol.asyncDispose]()
  })

  test("serves the API at its own address, over TLS only", async () => {
    const me = await proxy.fetch(host, "/v1/me", {
      headers: { authorization: `Bearer ${chosenToken}` },
    })
    expect([me.status, ((await me.json()) as { links: { self: string } }).links.self]).toEqual([
      200,
      expect.stringMatching(/^https:\/\/hamlet\.example\.org\/v1\//),
    ])
    const plain = await fetch(`http://127.0.0.1:${proxy.plainPort}/x?y`, {
      headers: { host },
      redirect: "manual",
    })
    expect([plain.status, plain.headers.get("location")]).toEqual([301, `https://${host}/x?y`])
  })

  test("hides the metrics of the server, and not the paths of vals", async () => {
    const val = valHost("hello")
    // The server resolves the dots and the backslash, which nginx sees as a part of a name.
    const targets = [
      "/metrics",
      "/metrics?x",
      "/metrics/",
      "/metrics//",
      "//metrics",
      "/%6detrics",
      "/x/../metrics",
      "/x/%2e%2e/metrics",
      "/x/..\\metrics",
      "/..\\metrics?x",
      // nginx selects the block by the host in the request line.
      `https://${val}/metrics`,
      `https://${host}/metrics`,
    ]
    for (const target of targets) {
      const response = await proxy.send(host, target)
      expect(response).toStartWith("HTTP/1.1 ")
      expect([target, response.includes("hamlet_")]).toEqual([target, false])
    }
    for (const path of ["/metrics", "/metrics/", "/a?b=\\"])
      expect(await (await proxy.fetch(val, path)).text()).toBe(`https://${val}${path}`)
    const direct = await fetch(`http://127.0.0.1:${serverPort}/metrics`)
    expect([direct.status, await direct.text()]).toEqual([200, expect.stringContaining("hamlet_")])
  })

  test("lets browsers sign in", async () => {
    const headers = {
      "x-hamlet-session": "1",
      origin: `https://${host}`,
      "sec-fetch-site": "same-origin",
    }
    const response = await proxy.fetch(host, "/v1/sessions", {
      method: "POST",
      headers,
      body: JSON.stringify({ token: chosenToken }),
    })
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get("set-cookie")).toMatch(/; Secure/)
  })

  test("serves vals at their addresses: requests, large bodies, streams and WebSockets", async () => {
    const hello = await proxy.fetch(valHost("hello"), "/path?query")
    expect(await hello.text()).toBe(`https://${valHost("hello")}/path?query`)
    const large = await proxy.fetch(valHost("size"), "/", {
      method: "POST",
      body: new Uint8Array(3_000_000),
    })
    expect(await large.text()).toBe("3000000")
    const stream = (await proxy.fetch(valHost("stream"), "/")).body?.getReader()
    expect(new TextDecoder().decode((await stream?.read())?.value)).toBe("begun")
    await stream?.cancel()
    expect(await proxy.echo(valHost("socket"), "hello")).toBe("hello")
  })

  test("counts callers without a token by the address that the proxy sees, not by their headers", async () => {
    const statuses = new Set<number>()
    const ask = async (count: number) => {
      const headers = { "x-forwarded-for": `192.0.2.${count}` }
      return (await proxy.fetch(host, "/v1/me", { headers })).status
    }
    // Several at once: the limit refills with time.
    for (let count = 0; count < 200 && !statuses.has(429); count += 10) {
      const asked = Array.from({ length: 10 }, (_, index) => ask(count + index))
      for (const status of await Promise.all(asked)) statuses.add(status)
    }
    expect([...statuses].sort()).toEqual([401, 429])
  })
})

const vals = {
  hello: "export default (request) => new Response(request.url)",
  size: "export default async (request) => new Response(String((await request.bytes()).length))",
  stream:
    'export default () => new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("begun")) } }))',
  socket: `export default (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request)
    socket.onmessage = ({ data }) => socket.send(data)
    return response
  }`,
}

interface Proxy extends AsyncDisposable, ProxyClient {
  readonly plainPort: number
}

async function openProxy(serverPort: number): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-nginx-"))
  using authority = createAuthority()
  const [port, plainPort] = [await findFreePort(), await findFreePort()]
  writeFileSync(
    join(folder, "nginx.conf"),
    toConfiguration(folder, authority, { serverPort, port, plainPort }),
  )
  const child = Bun.spawn(
    [nginx ?? "", "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")],
    {
      stdout: "ignore",
      stderr: "pipe",
    },
  )
  const said = new Response(child.stderr).text()
  await Promise.race([
    waitForPort(port),
    child.exited.then(async () => Promise.reject(new Error(await said))),
  ])
  return {
    ...createProxyClient(port, authority.ca),
    plainPort,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      await child.exited
      rmSync(folder, { recursive: true })
    },
  }
}

interface Ports {
  readonly serverPort: number
  readonly port: number
  readonly plainPort: number
}

function toConfiguration(
  folder: string,
  authority: Authority,
  { serverPort, port, plainPort }: Ports,
): string {
  const { cert, key } = authority.issue(names.join(",DNS:"))
  const files = { fullchain: cert, privkey: key }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.pem`), text)
  const recipe = readBlock("nginx")
    .replaceAll("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
    .replaceAll("listen 80;", `listen 127.0.0.1:${plainPort};`)
    .replaceAll("http://127.0.0.1:8080;", `http://127.0.0.1:${serverPort};`)
    .replaceAll("/etc/letsencrypt/live/hamlet.example.org/", `${folder}/`)
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  mkdirSync(join(folder, "temp"))
  const places = kinds.map((kind) => `${kind}_temp_path ${join(folder, "temp", kind)};`).join("\n")
  const user = process.getuid?.() === 0 ? "user root;" : ""
  return `daemon off; master_process off; pid ${folder}/pid; ${user}\nevents {}\nhttp {\naccess_log off;\n${places}\n${recipe}\n}\n`
}
