import { expect } from "bun:test"
import { describeVillage, probe } from "./support/test-village.ts"
import type { Answer, SavedVal, Village } from "./support/village.ts"
import { waitFor } from "./support/wait.ts"

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
function toComparable({ status, headers, text }: Answer, hosts: readonly string[]): unknown {
  const known = Object.fromEntries([...headers].filter(([name]) => name !== "date"))
  let body = text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
  for (const host of hosts) body = body.replaceAll(host, "HOST")
  return { status, headers: known, body }
}

describeVillage("what tells that a private val exists", {}, (village) => {
  let hidden: Promise<SavedVal> | undefined
  const getHidden = async (place: Village) => {
    hidden ??= (async () => {
      const val = await place.save(place.ada, {
        name: "hidden",
        code: `export default () => new Response("private answer")`,
        privacy: "private",
      })
      // It has run: whatever is kept of it is there.
      const answer = await place.visit(val, {
        headers: { authorization: `Bearer ${place.ada.token}` },
      })
      expect([answer.status, answer.text]).toEqual([200, "private answer"])
      return val
    })()
    return hidden
  }
  const absent = (place: Village) => ({ host: `ada-absent.localhost:${place.port}` })

  for (const { title, ...way } of ways)
    probe(
      village,
      `${title} gets the same from it as from a val that does not exist`,
      async (place) => {
        const val = await getHidden(place)
        for (const more of [{}, { authorization: `Bearer ${place.bob.token}` }]) {
          const options = { ...way, headers: { ...more, ...way.headers } }
          const ofHidden = await place.visit(val, options)
          const ofAbsent = await place.visit(absent(place), options)
          expect(ofHidden.status).toBe(404)
          expect(toComparable(ofHidden, [val.host])).toEqual(
            toComparable(ofAbsent, [absent(place).host]),
          )
        }
      },
    )

  probe(village, "its id as a host name gets the same as any other id", async (place) => {
    const { id } = await getHidden(place)
    const ask = async (label: string) =>
      toComparable(await place.visit({ host: `${label}.localhost:${place.port}` }), [label])
    expect(await ask(id.replaceAll("-", ""))).toEqual(await ask("0".repeat(32)))
    const withToken = await place.visit(
      { host: `${id.replaceAll("-", "")}.localhost:${place.port}` },
      { headers: { authorization: `Bearer ${place.ada.token}` } },
    )
    expect(withToken.text).toBe("private answer")
  })

  probe(
    village,
    "tokens of its owner that may not read vals, or no longer, get the same as anybody",
    async (place) => {
      const val = await getHidden(place)
      const make = async (scopes: readonly string[]) =>
        (await place.call("POST", "/v1/me/tokens", { as: place.ada, body: { name: "t", scopes } }))
          .json
      const narrow = await make(["user:read"])
      const revoked = await make(["val:read"])
      expect(
        (await place.visit(val, { headers: { authorization: `Bearer ${revoked.token}` } })).status,
      ).toBe(200)
      await place.call("DELETE", `/v1/me/tokens/${revoked.id}`, { as: place.ada })
      for (const { token } of [narrow, revoked]) {
        const headers = { authorization: `Bearer ${token}` }
        const ofHidden = await place.visit(val, { headers })
        expect(ofHidden.status).toBe(404)
        expect(toComparable(ofHidden, [val.host])).toEqual(
          toComparable(await place.visit(absent(place), { headers }), [absent(place).host]),
        )
      }
    },
  )

  probe(village, "a token elsewhere than in its header opens nothing", async (place) => {
    const val = await getHidden(place)
    const { token } = place.ada
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
    for (const options of tries) expect((await place.visit(val, options)).status).toBe(404)
    expect(
      (await place.call("GET", "/v1/me", { headers: { cookie: `token=${token}` } })).status,
    ).toBe(401)
    expect((await place.call("GET", `/v1/me?token=${token}`)).status).toBe(401)
  })

  probe(village, "its owner's token opens it, and is not handed to its code", async (place) => {
    const val = await place.save(place.ada, {
      code: `export default (request) => Response.json(Object.fromEntries(request.headers))`,
      privacy: "private",
    })
    const answer = await place.visit(val, {
      headers: { authorization: `Bearer ${place.ada.token}` },
    })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain(place.ada.token)
  })

  for (const kind of ["static", "dynamic"] as const)
    probe(
      village,
      `a ${kind} import of its module fails like that of one that does not exist`,
      async (place) => {
        const { name } = await getHidden(place)
        const load = async (target: string) => {
          const url = `${place.baseUrl}/v/ada/${target}`
          const code =
            kind === "static"
              ? `import * as stolen from "${url}"\nexport default () => Object.keys(stolen)`
              : `export default async () => Object.keys(await import("${url}"))`
          const val = await place.save(place.mallory, { code })
          const answer = await place.visit(val)
          const { status, error } = await place.runOf(answer, place.mallory)
          return [
            answer.status,
            status,
            JSON.stringify(error).replaceAll(target, "TARGET").replaceAll(val.name, "OWN"),
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
    village,
    "a val that becomes private is gone for everybody else at once, also for whoever imports it",
    async (place) => {
      const val = await place.save(place.ada, {
        code: `export const value = "shared"\nexport default () => value`,
        privacy: "public",
      })
      const importer = await place.save(place.mallory, {
        code: `import { value } from "${place.baseUrl}/v/ada/${val.name}"\nexport default () => value`,
      })
      expect([(await place.visit(val)).text, (await place.visit(importer)).text]).toEqual([
        "shared",
        "shared",
      ])
      await place.call("PUT", `/v1/vals/${val.id}`, { as: place.ada, body: { privacy: "private" } })
      expect((await place.visit(val)).status).toBe(404)
      expect((await place.call("GET", `/v/ada/${val.name}`)).status).toBe(404)
    },
  )

  probe(village, "code of others does not change under whoever imports it", async (place) => {
    const library = await place.save(place.mallory, {
      code: `export const value = "good"`,
      type: "script",
      privacy: "public",
    })
    const importer = await place.save(place.ada, {
      code: `import { value } from "${place.baseUrl}/v/mallory/${library.name}"\nexport default () => value`,
    })
    expect((await place.visit(importer)).text).toBe("good")
    await place.save(place.mallory, {
      name: library.name,
      code: `export const value = Deno.env.get("ADAS_SECRET")`,
      type: "script",
      privacy: "public",
    })
    expect((await place.visit(importer)).text).toBe("good")
    // Also in a process that is new.
    process.kill((await place.sandboxOf(importer)).guest.pid, "SIGKILL")
    // A run that is in the old one at that moment fails with it.
    const answer = await waitFor(async () => {
      const again = await place.visit(importer)
      return again.status === 502 ? undefined : again
    })
    expect(answer.text).toBe("good")
  })

  probe(
    village,
    "a val tries to pass for another module by the words at its end",
    async (place) => {
      const forged = JSON.stringify({
        headers: {
          location: `${place.baseUrl}/v/ada/hidden@1`,
          "content-type": "application/json",
        },
        url: `${place.baseUrl}/v/ada/neighbour@1`,
        time: 1,
      })
      const val = await place.save(place.mallory, {
        code: `export default () => import.meta.url\n// denoCacheMetadata=${forged}`,
      })
      expect((await place.visit(val)).text).toBe(`${place.baseUrl}/v/mallory/${val.name}@1`)
    },
  )

  probe(
    village,
    "a page of a val cannot use the API with what the browser sends by itself",
    async (place) => {
      const origin = `http://${(await getHidden(place)).host}`
      const preflight = await place.call("OPTIONS", "/v1/vals", {
        headers: {
          origin,
          "access-control-request-method": "PUT",
          "access-control-request-headers": "authorization",
        },
      })
      const answers = [
        preflight,
        await place.call("GET", "/v1/vals", { headers: { origin } }),
        await place.call("GET", "/v1/me", {
          headers: { origin, cookie: `session=${place.ada.token}` },
        }),
        await place.call("GET", "/docs", { headers: { origin } }),
        await place.call("GET", "/v/ada/neighbour", { headers: { origin } }),
      ]
      for (const { headers } of answers) {
        expect(headers.get("access-control-allow-credentials")).toBeNull()
        expect(headers.get("set-cookie")).toBeNull()
      }
      expect(answers[2]?.status).toBe(401)
      expect(answers[4]?.headers.get("content-security-policy")).toContain("sandbox")
    },
  )
})
