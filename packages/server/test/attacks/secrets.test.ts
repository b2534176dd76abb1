import { expect, test } from "bun:test"
import { randomUUID } from "node:crypto"
import { type RouteDefinition, routes } from "@hamlet/contract"
import { toSampleRequest } from "../authorization/samples.ts"
import { betrayals, toBetrayer, trickySecret } from "./probes/betrayals.ts"
import { describeVillage, probe, probeMsMax } from "./support/test-village.ts"
import { type SavedVal, Village, type Villager } from "./support/village.ts"
import { waitUntil } from "./support/wait.ts"

/** Gives its token away in a way that no mask can know. */
const leakyCode = `export default function (request) {
  if (new URL(request.url).pathname === "/end") new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile")).close()
  return new Response([...Deno.env.get("HAMLET_TOKEN")].reverse().join(""))
}
`

async function stealToken(village: Village, val: SavedVal): Promise<string> {
  const { text } = await village.visit(val)
  const token = [...text].reverse().join("")
  expect(token).toMatch(/^hamlet_/)
  return token
}

const statusOf = async (village: Village, token: string) =>
  (await village.call("GET", "/v1/me", { as: token })).status

/** Ways in which the process of a val ends, and its token with it. */
const endings: readonly {
  readonly title: string
  end(village: Village, val: SavedVal, owner: Villager): Promise<unknown>
}[] = [
  { title: "exits", end: (village, val) => village.visit(val, { path: "/end" }) },
  {
    title: "is killed",
    end: async (village, val) => process.kill((await village.sandboxOf(val)).guest.pid, "SIGKILL"),
  },
  { title: "has been idle for too long", end: async () => {} },
  {
    title: "was saved anew",
    end: (village, { name }, owner) =>
      village.save(owner, { name, code: `export default () => "new"` }),
  },
  {
    title: "was deleted",
    end: (village, { id }, owner) => village.call("DELETE", `/v1/vals/${id}`, { as: owner }),
  },
  {
    title: "could see a secret that was changed",
    end: (village, _, owner) =>
      village.call("PUT", "/v1/me/secrets/CHANGED", { as: owner, body: { value: randomUUID() } }),
  },
]

const env = { HAMLET_RUN_SECONDS_MAX: "3", HAMLET_IDLE_SECONDS: "2" }
let count = 0

describeVillage("what a val tries with secrets and tokens", env, (village) => {
  probe(village, "a val sees its owner's environment and nothing of the host's", async (place) => {
    const val = await place.save(place.mallory, {
      code: `import { env } from "node:process"
export default async () => {
  const worker = new Worker("data:application/javascript,postMessage(Object.keys(Deno.env.toObject()))", { type: "module" })
  const inWorker = await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = reject })
  worker.terminate()
  return [Object.keys(Deno.env.toObject()), Object.keys(env), Object.keys(process.env), inWorker].map((names) => names.sort())
}`,
    })
    const own = ["HAMLET_TOKEN", "HAMLET_URL", "HAMLET_VAL"]
    // A worker has to find the door by itself; where it is inside the sandbox is no secret.
    expect((await place.visit(val)).json).toEqual([
      own,
      own,
      own,
      [...own, "HTTPS_PROXY", "HTTP_PROXY"],
    ])
  })

  probe(village, "a val tries to change the environment for its next run", async (place) => {
    const val = await place.save(place.mallory, {
      code: `export default () => {
  const tried = []
  for (const change of [() => Deno.env.set("HAMLET_VAL", "forged"), () => Deno.env.delete("HAMLET_VAL"), () => { process.env.HAMLET_VAL = "forged" }, () => { delete process.env.HAMLET_VAL }]) try { change(); tried.push("done") } catch (error) { tried.push(error.name) }
  return [Deno.env.get("HAMLET_VAL"), process.env.HAMLET_VAL, tried]
}`,
    })
    const expected = [`mallory/${val.name}`, `mallory/${val.name}`, Array(4).fill("TypeError")]
    expect((await place.visit(val)).json).toEqual(expected)
    expect((await place.visit(val)).json).toEqual(expected)
  })

  probe(
    village,
    "somebody else runs a public val and gets neither its owner's secrets nor a token",
    async (place) => {
      const val = await place.save(place.ada, {
        code: "export default () => Object.keys(Deno.env.toObject()).sort()",
        type: "script",
        privacy: "public",
      })
      expect((await place.run(val, [], place.ada)).returnValue).toContain("ADAS_SECRET")
      expect((await place.run(val, [], place.bob)).returnValue).toEqual([
        "HAMLET_URL",
        "HAMLET_VAL",
      ])
      const called = await place.call("POST", `/v1/run/ada.${val.name}`, {
        as: place.bob,
        body: { args: [] },
      })
      expect(called.json).toEqual(["HAMLET_URL", "HAMLET_VAL"])
      // And once more as its owner: nobody got a process of somebody else's.
      expect((await place.run(val, [], place.ada)).returnValue).toContain("ADAS_SECRET")
    },
  )

  probe(
    village,
    "somebody else runs a public val and finds nothing that its owner left in its memory or on its disk",
    async (place) => {
      const val = await place.save(place.ada, {
        type: "script",
        privacy: "public",
        code: `export default function () {
  const found = [globalThis.left ?? null, Array.from(Deno.readDirSync("/tmp"), ({ name }) => name)]
  globalThis.left = Deno.env.get("ADAS_SECRET") ?? "of somebody else"
  Deno.writeTextFileSync("/tmp/left", globalThis.left)
  return found
}`,
      })
      await place.run(val, [], place.ada)
      expect((await place.run(val, [], place.bob)).returnValue).toEqual([null, []])
      const other = await place.save(place.mallory, {
        code: `export default () => Array.from(Deno.readDirSync("/tmp"), ({ name }) => name)`,
      })
      expect((await place.visit(other)).json).toEqual([])
    },
  )

  probe(
    village,
    "a module of somebody else sees the environment of whoever imports it, not of whoever wrote it",
    async (place) => {
      const { name } = await place.save(place.ada, {
        code: `export const look = () => Deno.env.get("ADAS_SECRET") ?? "nothing"`,
        type: "script",
        privacy: "public",
      })
      const val = await place.save(place.mallory, {
        code: `import { look } from "${place.baseUrl}/v/ada/${name}"\nexport default () => look()`,
      })
      expect((await place.visit(val)).text).toBe("nothing")
    },
  )

  for (const betrayal of betrayals)
    probe(
      village,
      `a val tries ${betrayal.tries}, and it is hidden from its runs`,
      async (place) => {
        const owner = await place.addVillager(`traitor${++count}`)
        await place.call("PUT", "/v1/me/secrets/TRICKY", {
          as: owner,
          body: { value: trickySecret },
        })
        const val = await place.save(owner, {
          code: toBetrayer(betrayal),
          type: "script",
          privacy: "public",
        })
        const run = await place.run(val)
        const called = await place.call("POST", `/v1/run/${owner.username}.${val.name}`, {
          as: owner,
          body: { args: [] },
        })
        const later = await place.endedRun(run.id, owner)
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

  probe(village, "a val tries to have its secret cut in two where its logs end", async (place) => {
    const owner = await place.addVillager(`traitor${++count}`)
    await place.call("PUT", "/v1/me/secrets/TRICKY", {
      as: owner,
      body: { value: "long-and-plain-secret-4711" },
    })
    const val = await place.save(owner, {
      type: "script",
      code: `export default () => { const secret = Deno.env.get("TRICKY"); for (let chars = 99_960; chars <= 100_000; chars += 4) console.log("x".repeat(chars) + secret); console.log("x".repeat(99_985) + secret); return "y".repeat(99_985) + secret }`,
    })
    const run = await place.endedRun((await place.run(val)).id, owner)
    expect(JSON.stringify(run)).not.toContain("long-and")
  })

  probe(village, "only the owner is shown what went wrong, and nobody a secret", async (place) => {
    const owner = await place.addVillager(`traitor${++count}`)
    await place.call("PUT", "/v1/me/secrets/TRICKY", { as: owner, body: { value: trickySecret } })
    const val = await place.save(owner, {
      code: `export default () => { throw new Error("what went wrong " + Deno.env.get("TRICKY")) }`,
      privacy: "public",
    })
    for (const accept of ["text/html", "application/json"]) {
      const toOwner = await place.visit(val, {
        headers: { accept, authorization: `Bearer ${owner.token}` },
      })
      expect([
        toOwner.status,
        toOwner.text.includes("what went wrong"),
        toOwner.text.includes("tricky"),
      ]).toEqual([502, true, false])
      for (const headers of [
        { accept },
        { accept, authorization: `Bearer ${place.bob.token}` },
        { accept, authorization: "Bearer nonsense" },
      ]) {
        const toOthers = await place.visit(val, { headers })
        expect([
          toOthers.status,
          toOthers.text.includes("what went wrong"),
          toOthers.text.includes("tricky"),
        ]).toEqual([502, false, false])
      }
    }
  })

  probe(
    village,
    "a token of a run reads what its owner can read, and writes to no route but those of its storage",
    async (place) => {
      const owner = await place.addVillager(`lender${++count}`)
      const hidden = await place.save(owner, { code: "export default 1", privacy: "private" })
      const leaky = await place.save(owner, { code: leakyCode })
      const token = await stealToken(place, leaky)
      expect((await place.call("GET", `/v1/vals/${hidden.id}`, { as: token })).status).toBe(200)
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
        invitation_id: id,
        name: "SECRET",
      }
      const allowed = new Set(["val:read", "user:read", "run:read", undefined])
      // What takes no scope, or one to read: it lets nobody in, ends nothing and shows nothing.
      const refusals: Record<string, string> = {
        createSession: "403 cross_site_request",
        findSignInLinkOwner: "403 cross_site_request",
        acceptInvitation: "404 invitation_not_found",
        signOut: "204 undefined",
      }
      const ofStorage = new Set<string | undefined>([
        "blob:read",
        "blob:write",
        "sqlite:read",
        "sqlite:write",
      ])
      for (const [name, route] of Object.entries(routes) as [string, RouteDefinition][]) {
        if ((allowed.has(route.scope) && route.method === "get") || ofStorage.has(route.scope))
          continue
        const { method, path, body } = toSampleRequest(name, route, values, String(++count))
        const answer = await place.call(method, path, {
          as: token,
          ...(body === undefined ? {} : { body }),
        })
        expect(`${name} ${answer.status} ${answer.json?.code}`).toBe(
          `${name} ${refusals[name] ?? "403 missing_scope"}`,
        )
      }
      // Nor is it one of the tokens that the owner keeps.
      const { json } = await place.call("GET", "/v1/me/tokens", { as: owner })
      expect(json.data.map(({ name }: { name: string }) => name)).toEqual(["first token"])
      expect(json.data[0].scopes).toContain("val:write")
    },
  )

  for (const { title, end } of endings)
    probe(
      village,
      `a token of a run is worth nothing after its process ${title}`,
      async (place) => {
        const owner = await place.addVillager(`lender${++count}`)
        const leaky = await place.save(owner, { code: leakyCode })
        const token = await stealToken(place, leaky)
        expect(await statusOf(place, token)).toBe(200)
        await end(place, leaky, owner)
        await waitUntil(async () => (await statusOf(place, token)) === 401)
      },
    )

  probe(
    village,
    "somebody else's runs can be neither read, followed, cancelled nor replayed",
    async (place) => {
      const val = await place.save(place.ada, {
        code: `export default (secret) => { console.log("private log"); return secret }`,
        type: "script",
        privacy: "public",
      })
      const { id } = await place.run(val, ["private argument"])
      for (const [method, path] of [
        ["GET", `/v1/runs/${id}`],
        ["GET", `/v1/runs/${id}/logs`],
        ["POST", `/v1/runs/${id}/cancel`],
        ["POST", `/v1/runs/${id}/replay`],
        ["POST", `/v1/vals/${val.id}/evaluations/${id}/cancel`],
      ] as const) {
        const answer = await place.call(method, path, { as: place.bob })
        expect(`${path} ${answer.status} ${answer.json?.code}`).toBe(`${path} 404 run_not_found`)
      }
      expect(
        (await place.call("GET", `/v1/vals/${val.id}/runs`, { as: place.bob })).json.data,
      ).toEqual([])
      const anonymous = await place.call("GET", `/v1/runs/${id}`)
      expect(anonymous.status).toBe(401)
    },
  )
})

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(
    `a token of a run is worth nothing after the server was ended by ${signal} and started again`,
    async () => {
      const place = await Village.open(env)
      try {
        const token = await stealToken(place, await place.save(place.ada, { code: leakyCode }))
        // Tokens are written down in the background: a token that is there must not be found after
        // the restart.
        await waitUntil(async () => (await statusOf(place, token)) === 200)
        place.traces.look(place.hamlet.pid)
        place.hamlet.signal(signal)
        await place.hamlet.ended()
        await place.start()
        expect(await statusOf(place, token)).toBe(401)
        await place.expectUnharmed()
        expect((await place.leave()).left).toEqual([])
      } finally {
        await place.stop()
      }
    },
    probeMsMax,
  )
