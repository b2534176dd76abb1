import { expect, test } from "bun:test"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { ApiError, createClient } from "@hamlet/contract/client"
import { createCipher } from "../../src/domain/secrets/cipher.ts"
import { loadKeyFile } from "../../src/storage/accounts/key-file.ts"
import { createSecretStore } from "../../src/storage/accounts/secrets.ts"
import { expectStatus, openApi, type TestApi } from "../support/api.ts"
import { describePostgres, describeSqlite, type OpenDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

describeSqlite("hamlet rotate-secret-key", (open) => {
  test("re-encrypts everything while the server runs, repeatedly, and loses nothing", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve()
    const client = createClient({ baseUrl, token: chosenToken })
    await client.putSecret({ name: "BEFORE", value: "one" })
    const keys = [readKeys(fixture)]

    // Between two rotations the server, which was started before both, goes on to write.
    const expected: Record<string, string> = { BEFORE: "one" }
    for (const name of ["FIRST", "SECOND"]) {
      expect(await rotate(fixture)).toBe(Object.keys(expected).length)
      keys.push(readKeys(fixture))
      await client.putSecret({ name, value: `after ${name}` })
      expected[name] = `after ${name}`
      expect(await openSecrets(fixture)).toEqual(expected)
    }

    // Each rotation made a new key; the one before is kept for what was under way, and no older
    // one.
    expect(new Set(keys.map(([newest]) => newest)).size).toBe(3)
    expect(keys.slice(1).map(([, before]) => before)).toEqual(
      keys.slice(0, -1).map(([newest]) => newest),
    )
    expect(keys.map((lines) => lines.length)).toEqual([1, 2, 2])

    // The server that goes on finds its way, and so does the next one.
    const response = await client.createToken(
      { name: "once", scopes: ["val:read"] },
      { idempotencyKey: "again" },
    )
    hamlet.signal("SIGTERM")
    expect((await hamlet.ended()).exitCode).toBe(0)
    const next = await fixture.serve()
    const nextClient = createClient({ baseUrl: next.baseUrl, token: chosenToken })
    expect(
      await nextClient.createToken(
        { name: "once", scopes: ["val:read"] },
        { idempotencyKey: "again" },
      ),
    ).toEqual(response)
    expect(await openSecrets(fixture)).toEqual(expected)
  })

  test("encrypts with the first key of HAMLET_SECRET_KEY, and does not change the key file", async () => {
    await using fixture = await openServerFixture(open)
    const [older, newer] = [
      Buffer.alloc(32, 1).toString("base64"),
      Buffer.alloc(32, 2).toString("base64"),
    ]
    const { hamlet, baseUrl } = await fixture.serve({ HAMLET_SECRET_KEY: older })
    await createClient({ baseUrl, token: chosenToken }).putSecret({ name: "NAME", value: "value" })
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    const rotation = fixture.start(["rotate-secret-key"], {
      HAMLET_SECRET_KEY: `${newer},${older}`,
    })
    expect(await rotation.ended()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Encrypted 1 secrets with key [0-9a-f]{16}\n$/),
    })

    // From now on the new key alone will do.
    expect(await openSecrets(fixture, [Buffer.from(newer, "base64")])).toEqual({ NAME: "value" })
    expect(await Bun.file(join(fixture.dataDir, "secret.key")).exists()).toBe(false)
  })

  test("changes nothing when the keys do not open the database", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet } = await fixture.serve({
      HAMLET_SECRET_KEY: Buffer.alloc(32, 1).toString("base64"),
    })
    hamlet.signal("SIGTERM")
    await hamlet.ended()
    await fixture.run(["rotate-secret-key"])
    const before = readKeys(fixture)

    const { exitCode, stderr } = await fixture.run(["rotate-secret-key"])

    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^Cannot start: [^\n]+\n$/),
    })
    expect(readKeys(fixture)).toEqual(before)
  })
})

describePostgres("nodes with keys", (open) => {
  test("rotates the key of two nodes in the rounds of the docs, and no node fails meanwhile", async () => {
    const database = await open()
    const shared: OpenDatabase = async () => ({ ...database, close: async () => {} })
    await using fixture = await openServerFixture(shared)
    const start = (keys: string) => openApi(shared, { HAMLET_SECRET_KEY: keys })
    const [older, newer] = [toKey(1), toKey(2)]
    const nodes: [TestApi, TestApi] = [await start(older), await start(older)]
    const as = nodes[0].admin
    const val = { name: "reader", code: readSecrets }
    expectStatus(await nodes[0].call("PUT", "/v1/vals", { as, body: val }), 200)
    // This secret is not saved again: without the rotation, the last nodes could not start the val.
    const kept = { value: "kept" }
    expectStatus(await nodes[0].call("PUT", "/v1/me/secrets/KEPT", { as, body: kept }), 204)

    // Each node reads what the other has saved, also between two restarts.
    let saved = 0
    const check = async () => {
      for (const [writer, reader] of [nodes, nodes.toReversed() as typeof nodes]) {
        saved += 1
        const body = { value: `value ${saved}` }
        expectStatus(await writer.call("PUT", "/v1/me/secrets/NAME", { as, body }), 204)
        expect((await reader.call("POST", "/v1/run/admin.reader", { as })).json).toBe(saved)
      }
    }
    const restart = async (index: 0 | 1, keys: string) => {
      await nodes[index].close()
      nodes[index] = await start(keys)
    }
    const restartBoth = async (keys: string) => {
      await restart(0, keys)
      await check()
      await restart(1, keys)
    }
    await restartBoth(`${older},${newer}`)
    await restartBoth(`${newer},${older}`)
    const both = { HAMLET_SECRET_KEY: `${newer},${older}` }
    const rotation = await fixture.run(["rotate-secret-key"], both)
    expect(rotation).toMatchObject({ exitCode: 0, stderr: "" })
    await restartBoth(newer)
    await check()
    for (const node of nodes) await node.close()
  }, 240_000)

  test("a node without the key of a secret responds 503, and names the key in its log", async () => {
    await using fixture = await openServerFixture(open)
    const [older, newer] = [toKey(1), toKey(2)]
    const old = await startNode(fixture, older)
    await old.client.saveVal({ name: "reader", code: readSecrets })
    const { endpoint } = (
      await old.client.saveVal({ name: "page", code: readPage, type: "http", privacy: "public" })
    ).links
    const current = await startNode(fixture, `${newer},${older}`)
    await current.client.putSecret({ name: "NAME", value: "value" })

    const refused = await old.client
      .callVal({ username: "ada", val_name: "reader" })
      .catch((error: unknown) => error)
    expect(refused instanceof ApiError && [refused.status, refused.code]).toEqual([
      503,
      "secret_key_missing",
    ])
    const page = await fetch(`http://127.0.0.1:${new URL(old.baseUrl).port}/`, {
      headers: { host: new URL(endpoint ?? "").host },
    })
    expect([page.status, page.headers.get("retry-after")]).toEqual([503, expect.any(String)])
    await current.stop()
    const { stderr } = await old.stop()
    const key = createCipher([Buffer.from(newer, "base64")]).keyId
    expect(stderr).toContain(`does not have key ${key}"`)
    expect(stderr).not.toContain('"event":"internal"')
  })
})

describeSqlite("two servers on one data folder", (open) => {
  test("that start at once create one key", async () => {
    await using fixture = await openServerFixture(open)
    // Both servers create the database, too.
    const servers = [1, 2].map(() => fixture.start(["serve"], { HAMLET_TOKEN: chosenToken }))
    await Promise.all(servers.map((hamlet) => hamlet.listening()))
    for (const hamlet of servers) hamlet.signal("SIGTERM")
    for (const hamlet of servers) expect((await hamlet.ended()).exitCode).toBe(0)
    // The key that is kept is the one that the database knows.
    await fixture.serve()
    expect(readKeys(fixture)).toHaveLength(1)
    expect(statSync(join(fixture.dataDir, "secret.key")).mode & 0o777).toBe(0o600)
  })
})

const toKey = (byte: number) => Buffer.alloc(32, byte).toString("base64")
// The value itself would be masked in the response.
const readSecrets = 'export default () => Number(Deno.env.get("NAME")?.split(" ").at(-1))'
const readPage = 'export default () => new Response(Deno.env.get("NAME"))'

/** Starts a server with these keys, which logs what it does. */
async function startNode(fixture: ServerFixture, keys: string) {
  const env = { HAMLET_SECRET_KEY: keys, HAMLET_LOG_LEVEL: "info" }
  const { hamlet, baseUrl } = await fixture.serve(env)
  return {
    baseUrl,
    client: createClient({ baseUrl, token: chosenToken }),
    async stop() {
      hamlet.signal("SIGTERM")
      const { exitCode, stderr } = await hamlet.ended()
      expect(exitCode).toBe(0)
      return { stderr }
    },
  }
}

/** Gives how many secrets the program says it encrypted. */
async function rotate(fixture: ServerFixture): Promise<number> {
  const { exitCode, stdout, stderr } = await fixture.run(["rotate-secret-key"])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
  return Number(/^Encrypted (\d+) secrets with key [0-9a-f]{16}\n$/.exec(stdout)?.[1])
}

function readKeys(fixture: ServerFixture): readonly string[] {
  return readFileSync(join(fixture.dataDir, "secret.key"), "utf8").trim().split("\n")
}

/** Every secret in the database, opened with keys that were read only now. */
async function openSecrets(
  fixture: ServerFixture,
  keys: readonly Uint8Array[] = loadKeyFile(fixture.dataDir),
): Promise<Record<string, string>> {
  const db = await fixture.connect()
  const cipher = createCipher(keys)
  // No key has an empty name, so these are all.
  const sealed = await createSecretStore(db).listOtherKeys("", 1000)
  await db.stop()
  return Object.fromEntries(
    sealed.map((secret) => [
      secret.name,
      cipher.open(secret.sealed, `secret:${secret.userId}:${secret.name}`),
    ]),
  )
}
