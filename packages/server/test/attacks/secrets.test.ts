import { expect, test } from "bun:test"
import { randomUUID } from "node:crypto"
import { type RouteDefinition, routes } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { toSampleRequest } from "../authorization/samples.ts"
import type { TestUser } from "../support/api.ts"
import { secretLeaks, toLeakingModule, trickySecret } from "./probes/secret-leaks.ts"
import { AttackServer, type SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe, probeMsMax } from "./support/describe-attacks.ts"

/** Gives its token away in a way that no mask can know. */
const leakyCode = `export default function (request) {
  const { pathname } = new URL(request.url)
  if (pathname === "/wait") return new Promise(() => {})
  if (pathname === "/end") new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile")).close()
  return new Response([...Deno.env.get("HAMLET_TOKEN")].reverse().join(""))
}
`

/**
 * A token that works. On a slow machine, the process of one may have been idle for so long that it
 * has ended.
 */
async function stealToken(server: AttackServer, val: SavedVal): Promise<string> {
  return waitUntil(async () => {
    const { text } = await server.request(val)
    const token = [...text].reverse().join("")
    expect(token).toMatch(/^hamlet_/)
    return (await statusOf(server, token)) === 200 && token
  })
}

const statusOf = async (server: AttackServer, token: string) =>
  (await server.call("GET", "/v1/me", { as: token })).status

/** Ways in which the process of a val ends, and its token with it. */
const endings: readonly {
  readonly title: string
  end(server: AttackServer, val: SavedVal, owner: TestUser): Promise<unknown>
}[] = [
  { title: "exits", end: (server, val) => server.request(val, { path: "/end" }) },
  {
    title: "is killed",
    async end(server, val) {
      // A process with a run does not end by itself meanwhile.
      const waiting = server.request(val, { path: "/wait" })
      process.kill((await server.sandboxOf(val)).guest.pid, "SIGKILL")
      await waiting
    },
  },
  { title: "has been idle for too long", end: async () => {} },
  {
    title: "was saved anew",
    end: (server, { name }, owner) =>
      server.save(owner, { name, code: `export default () => "new"` }),
  },
  {
    title: "was deleted",
    end: (server, { id }, owner) => server.call("DELETE", `/v1/vals/${id}`, { as: owner }),
  },
  {
    title: "could see a secret that was changed",
    end: (server, _, owner) =>
      server.call("PUT", "/v1/me/secrets/CHANGED", { as: owner, body: { value: randomUUID() } }),
  },
]

const env = { HAMLET_RUN_SECONDS_MAX: "8", HAMLET_IDLE_SECONDS: "2" }
let count = 0

/** The variables of every val, sorted. */
const commonNames = [
  "HAMLET_URL",
  "HAMLET_VAL",
  "HOME",
  "PATH",
  "TMPDIR",
  "VALTOWN_ENTRYPOINT",
  "VAL_TOWN_BASE_URL",
]

describeAttacks("attacks/secrets and tokens", env, (getServer) => {
  probe(
    getServer,
    "a val sees its owner's environment and nothing of the host's",
    async (server) => {
      const val = await server.save(server.mallory, {
        code: `import { env } from "node:process"
export default async () => {
  const worker = new Worker("data:application/javascript,postMessage(Object.keys(Deno.env.toObject()))", { type: "module" })
  const inWorker = await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = reject })
  worker.terminate()
  return [Object.keys(Deno.env.toObject()), Object.keys(env), Object.keys(process.env), inWorker].map((names) => names.sort())
}`,
      })
      const given = [...commonNames, "HAMLET_TOKEN", "VAL_TOWN_API_KEY", "valtown"].sort()
      // A worker has to find the egress socket by itself; its path inside the sandbox is no secret.
      expect((await server.request(val)).json).toEqual([
        given,
        given,
        given,
        [...given, "HTTPS_PROXY", "HTTP_PROXY"].sort(),
      ])
    },
  )

  probe(getServer, "a val changes its environment, which no other process sees", async (server) => {
    const code = `export default () => {
  const before = [Deno.env.get("HAMLET_VAL"), process.env.HAMLET_TOKEN !== undefined]
  Deno.env.set("HAMLET_VAL", "forged")
  delete process.env.HAMLET_TOKEN
  return [before, [process.env.HAMLET_VAL, Deno.env.has("HAMLET_TOKEN")]]
}`
    for (const owner of [server.mallory, server.mallory, server.bob]) {
      const val = await server.save(owner, { code })
      expect((await server.request(val)).json).toEqual([
        [`${owner.username}/${val.name}`, true],
        ["forged", false],
      ])
    }
  })

  probe(
    getServer,
    "somebody else runs a public val and gets neither its owner's secrets nor a token",
    async (server) => {
      const val = await server.save(server.ada, {
        code: "export default () => Object.keys(Deno.env.toObject()).sort()",
        type: "script",
        privacy: "public",
      })
      expect((await server.run(val, [], server.ada)).returnValue).toContain("ADAS_SECRET")
      expect((await server.run(val, [], server.bob)).returnValue).toEqual(commonNames)
      const called = await server.call("POST", `/v1/run/ada.${val.name}`, {
        as: server.bob,
        body: { args: [] },
      })
      expect(called.json).toEqual(commonNames)
      // The owner runs the val again: no run got a process of another account.
      expect((await server.run(val, [], server.ada)).returnValue).toContain("ADAS_SECRET")
    },
  )

  probe(
    getServer,
    "a val echoes secrets and credentials, and what the run keeps of them has neither",
    async (server) => {
      const val = await server.save(server.ada, {
        privacy: "public",
        code: `export default async (request) => {
  const secret = Deno.env.get("ADAS_SECRET")
  const size = Number(new URL(request.url).searchParams.get("size") ?? 0)
  const headers = { "x-echo": "a " + secret, "set-cookie": "id=crumbs", "content-type": "text/plain" }
  return new Response("x".repeat(size) + secret + " and " + await request.text(), { headers })
}`,
      })
      const secret = (await server.request(val)).headers.get("x-echo")?.slice(2) ?? ""
      expect(secret.length).toBeGreaterThan(5)
      // The last one begins before the end of what is kept.
      for (const size of [0, 5_000, 16_380, 2_000_000]) {
        const response = await server.request(val, {
          method: "POST",
          path: `/?size=${size}`,
          headers: { authorization: "Bearer key-of-a-client", cookie: "a=crumbs" },
          body: secret,
        })
        expect(response.text).toContain(secret)
        const run = await server.runOf(response, server.ada)
        const kept = JSON.stringify([run.requestContent, run.responseContent])
        expect(run.responseContent?.headers).toContainEqual(["set-cookie", "[removed]"])
        expect(kept.length).toBeLessThan(40_000)
        for (const text of [secret, secret.slice(0, 5), "crumbs", "key-of-a-client"])
          expect(kept).not.toContain(text)
        const asBob = await server.call("GET", `/v1/runs/${run.id}`, { as: server.bob })
        expect(asBob.status).toBe(404)
      }
    },
  )

  probe(
    getServer,
    "somebody else runs a public val and finds nothing that its owner left in its memory or on its disk",
    async (server) => {
      const val = await server.save(server.ada, {
        type: "script",
        privacy: "public",
        code: `export default function () {
  const found = [globalThis.left ?? null, Array.from(Deno.readDirSync("/tmp"), ({ name }) => name)]
  globalThis.left = Deno.env.get("ADAS_SECRET") ?? "of somebody else"
  Deno.writeTextFileSync("/tmp/left", globalThis.left)
  return found
}`,
      })
      await server.run(val, [], server.ada)
      expect((await server.run(val, [], server.bob)).returnValue).toEqual([null, []])
      const other = await server.save(server.mallory, {
        code: `export default () => Array.from(Deno.readDirSync("/tmp"), ({ name }) => name)`,
      })
      expect((await server.request(other)).json).toEqual([])
    },
  )

  probe(
    getServer,
    "a module of another user sees the environment of the val that imports it, not of its author",
    async (server) => {
      const { name } = await server.save(server.ada, {
        code: `export const look = () => Deno.env.get("ADAS_SECRET") ?? "nothing"`,
        type: "script",
        privacy: "public",
      })
      const val = await server.save(server.mallory, {
        code: `import { look } from "${server.baseUrl}/v/ada/${name}"\nexport default () => look()`,
      })
      expect((await server.request(val)).text).toBe("nothing")
    },
  )

  let leaking: Promise<SavedVal> | undefined
  /** A val with all leaks, of a user with a secret. */
  const saveLeaking = async (server: AttackServer) => {
    const owner = await server.addUser(`traitor${++count}`)
    const body = { value: trickySecret }
    await server.call("PUT", "/v1/me/secrets/TRICKY", { as: owner, body })
    const code = toLeakingModule(secretLeaks)
    return server.save(owner, { code, type: "script", privacy: "public" })
  }
  for (const [index, leak] of secretLeaks.entries())
    probe(
      getServer,
      `a val tries ${leak.tries}, and it is hidden from its runs`,
      async (server) => {
        leaking ??= saveLeaking(server)
        const { owner, ...val } = await leaking
        const run = await server.run({ owner, ...val }, [index])
        const called = await server.call("POST", `/v1/run/${owner.username}.${val.name}`, {
          as: owner,
          body: { args: [index] },
        })
        const later = await server.endedRun(run.id, owner)
        for (const text of [JSON.stringify(run), JSON.stringify(later), called.text]) {
          // The longest parts of it that no escaping changes.
          expect(text).not.toContain("tricky")
          expect(text).not.toMatch(/é-4711|\\u00e9-4711/)
          expect(text).not.toMatch(/hamlet_[0-9A-Za-z]{8}/)
        }
        expect(JSON.stringify([later.logs, later.error, later.returnValue])).toMatch(
          /TRICKY|HAMLET_TOKEN|\[null|\[\]/,
        )
      },
    )

  probe(
    getServer,
    "a val tries to have its secret cut in two where its logs end",
    async (server) => {
      const owner = await server.addUser(`traitor${++count}`)
      await server.call("PUT", "/v1/me/secrets/TRICKY", {
        as: owner,
        body: { value: "long-and-plain-secret-4711" },
      })
      const val = await server.save(owner, {
        type: "script",
        code: `export default () => { const secret = Deno.env.get("TRICKY"); for (let chars = 99_960; chars <= 100_000; chars += 4) console.log("x".repeat(chars) + secret); console.log("x".repeat(99_985) + secret); return "y".repeat(99_985) + secret }`,
      })
      const run = await server.endedRun((await server.run(val)).id, owner)
      expect(JSON.stringify(run)).not.toContain("long-and")
    },
  )

  probe(
    getServer,
    "only the owner is shown what went wrong, and nobody a secret",
    async (server) => {
      const owner = await server.addUser(`traitor${++count}`)
      await server.call("PUT", "/v1/me/secrets/TRICKY", {
        as: owner,
        body: { value: trickySecret },
      })
      const val = await server.save(owner, {
        code: `export default () => { throw new Error("what went wrong " + Deno.env.get("TRICKY")) }`,
        privacy: "public",
      })
      for (const accept of ["text/html", "application/json"]) {
        const toOwner = await server.request(val, {
          headers: { accept, authorization: `Bearer ${owner.token}` },
        })
        expect([
          toOwner.status,
          toOwner.text.includes("what went wrong"),
          toOwner.text.includes("tricky"),
        ]).toEqual([502, true, false])
        for (const headers of [
          { accept },
          { accept, authorization: `Bearer ${server.bob.token}` },
          { accept, authorization: "Bearer nonsense" },
        ]) {
          const toOthers = await server.request(val, { headers })
          expect([
            toOthers.status,
            toOthers.text.includes("what went wrong"),
            toOthers.text.includes("tricky"),
          ]).toEqual([502, false, false])
        }
      }
    },
  )

  probe(
    getServer,
    "a token of a run reads what its owner can read, and writes to no route but those of its storage",
    async (server) => {
      const owner = await server.addUser(`lender${++count}`)
      const hidden = await server.save(owner, { code: "export default 1", privacy: "private" })
      const leaky = await server.save(owner, { code: leakyCode })
      let token = await stealToken(server, leaky)
      const send = (method: string, path: string, body?: unknown) =>
        waitUntil(async () => {
          const sent = body === undefined ? {} : { body }
          const response = await server.call(method, path, { as: token, ...sent })
          if (response.status !== 401) return response
          token = await stealToken(server, leaky)
          return undefined
        })
      expect((await send("GET", `/v1/vals/${hidden.id}`)).status).toBe(200)
      const id = randomUUID()
      const values = {
        val_id: hidden.id,
        val_name: hidden.name,
        user_id: owner.id,
        username: owner.username,
        version: "1",
        comment_id: id,
        run_id: id,
        token_id: id,
        session_id: id,
        identity_id: id,
        authorization_id: id,
        invitation_id: id,
        email_id: id,
        webhook_id: id,
        delivery_id: id,
        name: "SECRET",
        variable: "SECRET",
        code: "1 + 1",
        branch_id: id,
        file_id: id,
        org_id: id,
        file_path: "main.tsx",
      }
      const allowed = new Set(["val:read", "user:read", "run:read", undefined])
      // Routes that need no scope or a reading one: they sign in no user, end nothing and reveal
      // nothing.
      const refusals: Record<string, string> = {
        createSession: "403 cross_site_request",
        findSignInLinkOwner: "403 cross_site_request",
        startProviderSignIn: "403 cross_site_request",
        finishProviderSignIn: "403 cross_site_request",
        signUpWithProvider: "403 cross_site_request",
        acceptInvitation: "404 invitation_not_found",
        createSlackToken: "404 connection_not_found",
        createGoogleDocsToken: "404 connection_not_found",
        signOut: "204 undefined",
      }
      const forVals = new Set<string | undefined>([
        "blob:read",
        "blob:write",
        "sqlite:read",
        "sqlite:write",
        "email:write",
        "openai:write",
      ])
      for (const [name, route] of Object.entries(routes) as [string, RouteDefinition][]) {
        if ((allowed.has(route.scope) && route.method === "get") || forVals.has(route.scope))
          continue
        const { method, path, body } = toSampleRequest(name, route, values, String(++count))
        const response = await send(method, path, body)
        expect(`${name} ${response.status} ${response.json?.code}`).toBe(
          `${name} ${refusals[name] ?? "403 missing_scope"}`,
        )
      }
      // Nor is it one of the tokens that the owner keeps.
      const { json } = await server.call("GET", "/v1/me/tokens", { as: owner })
      expect(json.data.map(({ name }: { name: string }) => name)).toEqual(["first token"])
      expect(json.data[0].scopes).toContain("val:write")
    },
  )

  for (const { title, end } of endings)
    probe(
      getServer,
      `a token of a run is worth nothing after its process ${title}`,
      async (server) => {
        const owner = await server.addUser(`lender${++count}`)
        const leaky = await server.save(owner, { code: leakyCode })
        const token = await stealToken(server, leaky)
        await end(server, leaky, owner)
        await waitUntil(async () => (await statusOf(server, token)) === 401)
      },
    )

  probe(
    getServer,
    "somebody else's runs can be neither read, followed, cancelled nor replayed",
    async (server) => {
      const val = await server.save(server.ada, {
        code: `export default (secret) => { console.log("private log"); return secret }`,
        type: "script",
        privacy: "public",
      })
      const { id } = await server.run(val, ["private argument"])
      for (const [method, path] of [
        ["GET", `/v1/runs/${id}`],
        ["GET", `/v1/runs/${id}/logs`],
        ["POST", `/v1/runs/${id}/cancel`],
        ["POST", `/v1/runs/${id}/replay`],
        ["POST", `/v1/vals/${val.id}/evaluations/${id}/cancel`],
      ] as const) {
        const response = await server.call(method, path, { as: server.bob })
        expect(`${path} ${response.status} ${response.json?.code}`).toBe(
          `${path} 404 run_not_found`,
        )
      }
      expect(
        (await server.call("GET", `/v1/vals/${val.id}/runs`, { as: server.bob })).json.data,
      ).toEqual([])
      const anonymous = await server.call("GET", `/v1/runs/${id}`)
      expect(anonymous.status).toBe(401)
    },
  )
})

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(
    `a token of a run is worth nothing after the server was ended by ${signal} and started again`,
    async () => {
      const server = await AttackServer.open(env)
      try {
        const token = await stealToken(server, await server.save(server.ada, { code: leakyCode }))
        server.resources.record(server.hamlet.pid)
        server.hamlet.signal(signal)
        await server.hamlet.ended()
        await server.start()
        expect(await statusOf(server, token)).toBe(401)
        await server.expectHealthy()
        expect((await server.stopGracefully()).left).toEqual([])
      } finally {
        await server.stop()
      }
    },
    probeMsMax,
  )
