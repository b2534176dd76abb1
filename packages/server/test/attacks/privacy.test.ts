import { expect } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { AttackServer, ReceivedResponse, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"

const upgrade = {
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-version": "13",
  "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}

/** Ways to ask for a val. */
const ways: readonly {
  readonly title: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}[] = [
  { title: "GET" },
  { title: "HEAD", method: "HEAD" },
  { title: "POST", method: "POST", body: "body" },
  {
    title: "OPTIONS",
    method: "OPTIONS",
    headers: { origin: "http://evil.test", "access-control-request-method": "POST" },
  },
  { title: "a request for JSON", headers: { accept: "application/json" } },
  { title: "a WebSocket", headers: upgrade },
  { title: "a wrong token", headers: { authorization: "Bearer nonsense" } },
  { title: "a password", headers: { authorization: "Basic YWRhOmFkYQ==" } },
]

/** What differs between any two answers. */
function toComparable(
  { status, headers, text }: ReceivedResponse,
  hosts: readonly string[],
): unknown {
  const known = Object.fromEntries([...headers].filter(([name]) => name !== "date"))
  let body = text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
  for (const host of hosts) body = body.replaceAll(host, "HOST")
  return { status, headers: known, body }
}

/** A process that is to be killed must not end by itself before that. */
const env = { HAMLET_IDLE_SECONDS: "300" }

describeAttacks("attacks/privacy", env, (getServer) => {
  let hidden: Promise<SavedVal> | undefined
  const getHidden = async (server: AttackServer) => {
    hidden ??= (async () => {
      const val = await server.save(server.ada, {
        name: "hidden",
        code: `export default () => new Response("private answer")`,
        privacy: "private",
      })
      // The val runs once, so that a record exists.
      const response = await server.request(val, {
        headers: { authorization: `Bearer ${server.ada.token}` },
      })
      expect([response.status, response.text]).toEqual([200, "private answer"])
      return val
    })()
    return hidden
  }
  const absent = (server: AttackServer) => ({ host: `ada-absent.localhost:${server.port}` })

  for (const { title, ...way } of ways)
    probe(
      getServer,
      `${title} gets the same from it as from a val that does not exist`,
      async (server) => {
        const val = await getHidden(server)
        for (const more of [{}, { authorization: `Bearer ${server.bob.token}` }]) {
          const options = { ...way, headers: { ...more, ...way.headers } }
          const ofHidden = await server.request(val, options)
          const ofAbsent = await server.request(absent(server), options)
          expect(ofHidden.status).toBe(404)
          expect(toComparable(ofHidden, [val.host])).toEqual(
            toComparable(ofAbsent, [absent(server).host]),
          )
        }
      },
    )

  probe(getServer, "its id as a host name gets the same as any other id", async (server) => {
    const { id } = await getHidden(server)
    const ask = async (label: string) =>
      toComparable(await server.request({ host: `${label}.localhost:${server.port}` }), [label])
    expect(await ask(id.replaceAll("-", ""))).toEqual(await ask("0".repeat(32)))
    const withToken = await server.request(
      { host: `${id.replaceAll("-", "")}.localhost:${server.port}` },
      { headers: { authorization: `Bearer ${server.ada.token}` } },
    )
    expect(withToken.text).toBe("private answer")
  })

  probe(
    getServer,
    "tokens of its owner that may not read vals, or no longer, get the same as anybody",
    async (server) => {
      const val = await getHidden(server)
      const make = async (scopes: readonly string[]) =>
        (
          await server.call("POST", "/v1/me/tokens", {
            as: server.ada,
            body: { name: "t", scopes },
          })
        ).json
      const narrow = await make(["user:read"])
      const revoked = await make(["val:read"])
      expect(
        (await server.request(val, { headers: { authorization: `Bearer ${revoked.token}` } }))
          .status,
      ).toBe(200)
      await server.call("DELETE", `/v1/me/tokens/${revoked.id}`, { as: server.ada })
      for (const { token } of [narrow, revoked]) {
        const headers = { authorization: `Bearer ${token}` }
        const ofHidden = await server.request(val, { headers })
        expect(ofHidden.status).toBe(404)
        expect(toComparable(ofHidden, [val.host])).toEqual(
          toComparable(await server.request(absent(server), { headers }), [absent(server).host]),
        )
      }
    },
  )

  probe(getServer, "a token elsewhere than in its header opens nothing", async (server) => {
    const val = await getHidden(server)
    const { token } = server.ada
    const tries = [
      { path: `/?token=${token}` },
      { path: `/?access_token=${token}` },
      { headers: { cookie: `token=${token}; authorization=Bearer ${token}` } },
      {
        headers: { "x-authorization": `Bearer ${token}`, "proxy-authorization": `Bearer ${token}` },
      },
      { headers: { authorization: token } },
      {
        method: "POST",
        body: `token=${token}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      },
    ]
    for (const options of tries) expect((await server.request(val, options)).status).toBe(404)
    expect(
      (await server.call("GET", "/v1/me", { headers: { cookie: `token=${token}` } })).status,
    ).toBe(401)
    expect((await server.call("GET", `/v1/me?token=${token}`)).status).toBe(401)
  })

  probe(getServer, "its owner's token opens it, and is not handed to its code", async (server) => {
    const val = await server.save(server.ada, {
      code: `export default (request) => Response.json(Object.fromEntries(request.headers))`,
      privacy: "private",
    })
    const response = await server.request(val, {
      headers: { authorization: `Bearer ${server.ada.token}` },
    })
    expect(response.status).toBe(200)
    expect(response.text).not.toContain(server.ada.token)
  })

  for (const kind of ["static", "dynamic"] as const)
    probe(
      getServer,
      `a ${kind} import of its module fails like that of one that does not exist`,
      async (server) => {
        const { name } = await getHidden(server)
        const load = async (target: string) => {
          const url = `${server.baseUrl}/v/ada/${target}`
          const code =
            kind === "static"
              ? `import * as stolen from "${url}"\nexport default () => Object.keys(stolen)`
              : `export default async () => Object.keys(await import("${url}"))`
          const val = await server.save(server.mallory, { code })
          const response = await server.request(val)
          const { status, error } = await server.runOf(response, server.mallory)
          return [
            response.status,
            status,
            JSON.stringify(error)
              .replaceAll(target, "TARGET")
              .replaceAll(`ada/${target.replace(/@.*/, "")}\\"`, 'ada/TARGET\\"')
              .replaceAll(val.name, "OWN"),
          ]
        }
        for (const suffix of ["", "@1"]) {
          const ofHidden = await load(`${name}${suffix}`)
          expect(ofHidden[0]).toBe(502)
          expect(ofHidden).toEqual(await load(`absent${suffix}`))
        }
      },
    )

  probe(
    getServer,
    "a val that becomes private disappears for other users at once, also for vals that import it",
    async (server) => {
      const val = await server.save(server.ada, {
        code: `export const value = "shared"\nexport default () => value`,
        privacy: "public",
      })
      const importer = await server.save(server.mallory, {
        code: `import { value } from "${server.baseUrl}/v/ada/${val.name}"\nexport default () => value`,
      })
      expect([(await server.request(val)).text, (await server.request(importer)).text]).toEqual([
        "shared",
        "shared",
      ])
      await server.call("PUT", `/v1/vals/${val.id}`, {
        as: server.ada,
        body: { privacy: "private" },
      })
      expect((await server.request(val)).status).toBe(404)
      expect((await server.call("GET", `/v/ada/${val.name}`)).status).toBe(404)
    },
  )

  probe(
    getServer,
    "code of other users does not change for vals that import it",
    async (server) => {
      const library = await server.save(server.mallory, {
        code: `export const value = "good"`,
        type: "script",
        privacy: "public",
      })
      const importer = await server.save(server.ada, {
        code: `import { value } from "${server.baseUrl}/v/mallory/${library.name}"\nexport default () => value`,
      })
      expect((await server.request(importer)).text).toBe("good")
      await server.save(server.mallory, {
        name: library.name,
        code: `export const value = Deno.env.get("ADAS_SECRET")`,
        type: "script",
        privacy: "public",
      })
      expect((await server.request(importer)).text).toBe("good")
      // A new process behaves like the old one.
      process.kill((await server.sandboxOf(importer)).guest.pid, "SIGKILL")
      // A run that is in the old one at that moment fails with it.
      const response = await waitUntil(async () => {
        const again = await server.request(importer)
        return again.status === 502 ? undefined : again
      })
      expect(response.text).toBe("good")
    },
  )

  probe(
    getServer,
    "a val tries to pass for another module by the words at its end",
    async (server) => {
      const forged = JSON.stringify({
        headers: {
          location: `${server.baseUrl}/v/ada/hidden@1`,
          "content-type": "application/json",
        },
        url: `${server.baseUrl}/v/ada/neighbour@1`,
        time: 1,
      })
      const val = await server.save(server.mallory, {
        code: `export default () => import.meta.url\n// denoCacheMetadata=${forged}`,
      })
      expect((await server.request(val)).text).toBe(
        `${server.baseUrl}/v/mallory/${val.name}@1-main/main.tsx`,
      )
    },
  )

  probe(
    getServer,
    "a page of a val cannot use the API with what the browser sends by itself",
    async (server) => {
      const origin = `http://${(await getHidden(server)).host}`
      const preflight = await server.call("OPTIONS", "/v1/vals", {
        headers: {
          origin,
          "access-control-request-method": "PUT",
          "access-control-request-headers": "authorization",
        },
      })
      const responses = [
        preflight,
        await server.call("GET", "/v1/vals", { headers: { origin } }),
        await server.call("GET", "/v1/me", {
          headers: { origin, cookie: `session=${server.ada.token}` },
        }),
        await server.call("GET", "/docs", { headers: { origin } }),
        await server.call("GET", "/v/ada/neighbour", { headers: { origin } }),
      ]
      for (const { headers } of responses) {
        expect(headers.get("access-control-allow-credentials")).toBeNull()
        expect(headers.get("set-cookie")).toBeNull()
      }
      expect(responses[2]?.status).toBe(401)
      expect(responses[4]?.headers.get("content-security-policy")).toContain("sandbox")
    },
  )
})
