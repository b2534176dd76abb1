import { expect } from "bun:test"
import { hostProbes } from "./probes/hosts.ts"
import { rawRequests } from "./probes/raw-requests.ts"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { parseRawResponses, sendRaw } from "./support/raw-http.ts"

/**
 * Returns and records the requests it received. A call with anything but a request has bypassed the
 * gateway.
 */
const echoCode = `const seen = []
export default async function (...args) {
  const [request] = args
  if (!(request instanceof Request)) {
    seen.push({ called: args })
    return { called: args }
  }
  if (new URL(request.url).pathname === "/seen") return Response.json(seen)
  const entry = { method: request.method, url: request.url, headers: Object.fromEntries(request.headers), body: await request.text() }
  seen.push(entry)
  return Response.json(entry)
}
`

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly called?: unknown
}

let count = 0
const newMark = () => `mark${++count}x`

async function seenBy(server: AttackServer, val: SavedVal, mark: string): Promise<readonly Seen[]> {
  const { json } = await server.request(val, { path: "/seen" })
  return (json as readonly Seen[]).filter((entry) => JSON.stringify(entry).includes(mark))
}

/** Headers with which a client might fake its identity or its address. */
const headerProbes: readonly {
  readonly tries: string
  readonly headers: string
  check(seen: Seen, host: string): void
}[] = [
  {
    tries: "to say where it comes from",
    headers: "X-Forwarded-For: 6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n",
    check: ({ headers }) =>
      expect([headers["x-forwarded-for"], headers["x-real-ip"], headers.forwarded]).toEqual([
        "127.0.0.1",
        undefined,
        undefined,
      ]),
  },
  {
    tries: "to say which host it means",
    headers:
      "X-Forwarded-Host: localhost\r\nX-Host: localhost\r\nX-Forwarded-Server: localhost\r\n",
    check: ({ headers, url }, host) =>
      expect([
        headers["x-forwarded-host"],
        headers["x-forwarded-server"],
        new URL(url).host,
      ]).toEqual([host, undefined, host]),
  },
  {
    tries: "to say that it came by https",
    headers: "X-Forwarded-Proto: https\r\nX-Forwarded-Port: 443\r\nX-Forwarded-Scheme: https\r\n",
    check: ({ headers, url }) =>
      expect([headers["x-forwarded-proto"], headers["x-forwarded-port"], url.slice(0, 5)]).toEqual([
        "http",
        undefined,
        "http:",
      ]),
  },
  {
    tries: "to name another path",
    headers: "X-Original-URL: /v1/me\r\nX-Rewrite-URL: /v1/me\r\n",
    check: ({ url }) => expect(new URL(url).pathname).toMatch(/^\/mark/),
  },
  {
    tries: "to name another method",
    headers: "X-HTTP-Method-Override: DELETE\r\n",
    check: ({ method }) => expect(method).toBe("POST"),
  },
  {
    tries: "to speak for the gateway",
    headers:
      "X-Hamlet-Failure: 1\r\nX-Hamlet-Run: x\r\nX-Run-Id: forged\r\nX-Request-Id: forged\r\n",
    check: ({ headers }) =>
      expect(Object.keys(headers).filter((name) => /^x-(hamlet|run|request)/.test(name))).toEqual(
        [],
      ),
  },
  {
    tries: "to have headers of a hop passed on",
    headers:
      "Keep-Alive: timeout=5\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nTrailer: x\r\n",
    check: ({ headers }) =>
      expect(
        [
          "keep-alive",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
        ].filter((name) => name in headers),
      ).toEqual([]),
  },
  {
    tries: "to have headers taken away by naming them",
    headers: "Connection: x-own, host, x-forwarded-for, content-length, close\r\nX-Own: 1\r\n",
    check: ({ headers, body }, host) =>
      expect([headers["x-own"], headers.host, headers["x-forwarded-for"], body]).toEqual([
        undefined,
        host,
        "127.0.0.1",
        "hello",
      ]),
  },
  {
    tries: "to pollute prototypes by names of headers",
    headers:
      "__proto__: forged\r\nconstructor: forged\r\nprototype: forged\r\ntoString: forged\r\nhasOwnProperty: forged\r\n",
    check: ({ method }) => expect(method).toBe("POST"),
  },
  {
    tries: "to have its body taken for a compressed one",
    headers: "Content-Encoding: gzip\r\n",
    check: ({ body }) => expect(body).toBe("hello"),
  },
  {
    tries: "to be answered in parts before it has sent all",
    headers: "Expect: 100-continue\r\n",
    check: ({ body, headers }) => expect([body, headers.expect]).toEqual(["hello", undefined]),
  },
]

/** Paths that try to leave the part of the guest's address space that is for requests. */
const pathProbes = [
  "/../cMARK",
  "/%2e%2e/cMARK",
  "/.%2e/cMARK",
  "/a/../../cMARK",
  "/\\..\\cMARK",
  "//cMARK",
  "/..;/cMARK",
  "/%2e%2e%2fcMARK",
  "/..%5ccMARK",
  "/cMARK",
  "/hMARK/x",
  "/?x=/../cMARK",
  "/#/../cMARK",
  "http://evil.test/../cMARK",
  "/MARK%00",
  "/MARK\xff\xfe",
]
/**
 * Hosts that reach a val in more or less usual ways; the last ones have ports that there are not.
 */
const pathHosts = ["ada-echo.localhost:P", "ada-echo.localhost:", "ada-echo.localhost.:P"]
const impossibleHosts = [
  "ada-echo.localhost:65536",
  "ada-echo.localhost:99999",
  "ada-echo.localhost:999999",
]

/**
 * Sends a forged call. Either the val gets it as the request that it is, or it is refused as the
 * client's mistake: it is never a call, nor the val's fault.
 */
async function knockAtBackDoor(
  server: AttackServer,
  val: SavedVal,
  path: string,
  host: string,
): Promise<void> {
  const mark = newMark()
  const body = JSON.stringify({ args: ["forged", mark] })
  const head = `POST ${path.replaceAll("MARK", mark)} HTTP/1.1\r\nHost: ${host.replaceAll(":P", `:${server.port}`)}\r\n`
  const [response] = parseRawResponses(
    await sendRaw(
      server.port,
      `${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  )
  const seen = await seenBy(server, val, mark)
  expect([host, path, seen.filter(({ called }) => called !== undefined)]).toEqual([host, path, []])
  expect(`${host} ${path} ${response?.status}`).toMatch(/ (200|400|404)$/)
  expect(seen.map(({ method, body: text }) => [method, text])).toEqual(
    response?.status === 200 ? [["POST", body]] : [],
  )
}

/** What the val has seen must not be forgotten while a client waits for an answer. */
const env = { HAMLET_IDLE_SECONDS: "300" }

describeAttacks("attacks/gateway requests", env, (getServer) => {
  let echo: Promise<SavedVal> | undefined
  const saveEcho = async (server: AttackServer) => {
    const val = await server.save(server.ada, { name: "echo", code: echoCode, privacy: "public" })
    // From here on it has a process.
    await server.request(val, { path: "/seen" })
    return val
  }
  const getEcho = () => {
    echo ??= saveEcho(getServer())
    return echo
  }

  for (const { tries, bytes, statuses, isLate = false } of rawRequests)
    probe(getServer, `a client tries ${tries}`, async (server) => {
      const val = await getEcho()
      const mark = newMark()
      const responses = parseRawResponses(
        await sendRaw(server.port, bytes({ host: val.host, otherHost: val.host, mark })),
      )
      expect(responses.map(({ status }) => status)).toEqual([...statuses])
      const seen = await seenBy(server, val, mark)
      expect(seen.filter(({ url }) => url.includes("smuggled"))).toEqual([])
      expect(isLate ? [0, 1] : [statuses[0] === 200 ? 1 : 0]).toContain(seen.length)
      for (const { headers } of seen)
        expect([headers.authorization, headers["x-forwarded-for"]]).toEqual([
          undefined,
          "127.0.0.1",
        ])
    })

  for (const { tries, host, answers } of hostProbes)
    probe(getServer, `a client tries ${tries}`, async (server) => {
      await getEcho()
      const bytes = `GET /v1/me HTTP/1.1\r\nHost: ${host.replaceAll(":P", `:${server.port}`)}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`
      const [response] = parseRawResponses(await sendRaw(server.port, bytes))
      expect(whoAnswered(response)).toBe(answers)
    })

  probe(getServer, "a client names two hosts", async (server) => {
    const { host } = await getEcho()
    for (const [first, second] of [
      [host, `localhost:${server.port}`],
      [`localhost:${server.port}`, host],
    ]) {
      const bytes = `GET /v1/me HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`
      const responses = parseRawResponses(await sendRaw(server.port, bytes))
      // The answer is of neither host, nor a mixture.
      expect(whoAnswered(responses[0])).toBe("nobody")
      expect(responses.length).toBeLessThanOrEqual(1)
    }
  })

  probe(
    getServer,
    "a client names one host in the address and another in the header",
    async (server) => {
      const { host } = await getEcho()
      const ask = async (target: string, header: string) =>
        whoAnswered(
          parseRawResponses(
            await sendRaw(
              server.port,
              `GET ${target} HTTP/1.1\r\nHost: ${header}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`,
            ),
          )[0],
        )
      // The header decides in both cases: what is checked and what is done must be about the same
      // host.
      expect(await ask(`http://localhost:${server.port}/v1/me`, host)).toBe("val")
      expect(await ask(`http://${host}/v1/me`, `localhost:${server.port}`)).toBe("api")
    },
  )

  probe(getServer, "a client tries to use the API through the host of a val", async (server) => {
    const { host } = await getEcho()
    const response = await server.request(
      { host },
      { path: "/v1/me", headers: { authorization: `Bearer ${server.mallory.token}` } },
    )
    expect(response.json.url).toBe(`http://${host}/v1/me`)
    // The val must not get hold of the token with which its visitor could be impersonated.
    expect(response.text).not.toContain(server.mallory.token)
  })

  for (const { tries, headers, check } of headerProbes)
    probe(getServer, `a client tries ${tries}`, async (server) => {
      const { host } = await getEcho()
      const mark = newMark()
      const connection = headers.includes("Connection: x-own") ? "" : "Connection: close\r\n"
      const bytes = `POST /${mark} HTTP/1.1\r\nHost: ${host}\r\n${headers}${connection}Content-Length: 5\r\n\r\nhello`
      const response = parseRawResponses(await sendRaw(server.port, bytes)).find(
        ({ status }) => status !== 100,
      )
      expect(response?.status).toBe(200)
      check(JSON.parse(response?.body ?? "{}") as Seen, host)
    })

  for (const path of pathProbes)
    probe(
      getServer,
      `a client tries to bypass the guest's HTTP server with ${JSON.stringify(path)}`,
      async (server) => {
        for (const host of pathHosts) await knockAtBackDoor(server, await getEcho(), path, host)
      },
    )

  for (const host of impossibleHosts)
    probe(
      getServer,
      `a client tries to bypass the guest's HTTP server by way of ${host}`,
      async (server) => {
        for (const path of pathProbes) await knockAtBackDoor(server, await getEcho(), path, host)
      },
    )
})

function whoAnswered(
  answer: { readonly status: number; readonly body: string } | undefined,
): string {
  if (!answer || (answer.status === 400 && answer.body === "")) return "nobody"
  const { code, url, message } = JSON.parse(answer.body) as {
    code?: string
    url?: string
    message?: string
  }
  if (
    answer.status === 400 &&
    message === "Cannot accept the Host header: it names more than one host"
  )
    return "nobody"
  if (answer.status === 200 && url?.endsWith("/v1/me")) return "val"
  if (answer.status === 401 && code === "unauthenticated") return "api"
  if (answer.status === 404 && code === "val_not_found") return "no val"
  return `${answer.status} ${answer.body.slice(0, 200)}`
}
