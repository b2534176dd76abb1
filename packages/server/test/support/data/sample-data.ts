import type { RunRecord } from "../../../src/domain/runs/runs.ts"
import { expectStatus, type TestApi, type TestUser } from "../api.ts"

/**
 * A small neighbourhood in which every list has more than one entry, so that a client has pages to
 * turn.
 */
export interface SampleData {
  readonly ada: TestUser
  readonly bob: TestUser
  /** Ada's, public, of two versions; Bob's vals import it, he likes it and has commented on it. */
  readonly library: { readonly id: string }
  /** Oldest first. */
  readonly libraryComments: readonly string[]
  /** Bob's vals, oldest first; both import the library, and Ada likes both. */
  readonly importers: readonly { readonly id: string }[]
  /**
   * Ada's runs of the library, oldest first: succeeded over http, failed and succeeded through the
   * API.
   */
  readonly runs: readonly RunRecord[]
  /** An email of Ada's first run, which waits. */
  readonly emailId: string
  /** A webhook of Ada, which is paused. */
  readonly webhookId: string
  /** Ada's secrets. */
  readonly secrets: readonly string[]
}

/** When the first run started; each of the others starts a minute later. */
export const firstRunAt = Date.parse("2024-05-01T12:00:00.000Z")

/** Fills an empty server. `baseUrl` is how code addresses other vals. */
export async function createSampleData(api: TestApi, baseUrl: string): Promise<SampleData> {
  const ada = await api.addUser("ada")
  const bob = await api.addUser("bob")
  const library = await addVal(api, ada, {
    name: "library",
    code: "export const one = 1",
    privacy: "public",
    readme: "# Numbers",
  })
  expectStatus(
    await api.call("POST", `/v1/vals/${library.id}/versions`, {
      as: ada,
      body: { code: "export const one = 1, two = 2" },
    }),
    201,
  )
  const importers = [
    await addImporter(api, bob, baseUrl, "firstImporter"),
    await addImporter(api, bob, baseUrl, "secondImporter"),
  ]
  for (const { id } of importers)
    expectStatus(await api.call("PUT", `/v1/vals/${id}/like`, { as: ada }), 204)
  expectStatus(await api.call("PUT", `/v1/vals/${library.id}/like`, { as: bob }), 204)
  const libraryComments: string[] = []
  for (const comment of ["First!", "Second thoughts"]) {
    libraryComments.push(
      expectStatus(
        await api.call("POST", `/v1/vals/${library.id}/comments`, { as: bob, body: { comment } }),
        201,
      ).json.id,
    )
  }
  const secrets = ["API_KEY", "PASSWORD"]
  for (const name of secrets)
    expectStatus(
      await api.call("PUT", `/v1/me/secrets/${name}`, { as: ada, body: { value: "hush" } }),
      204,
    )
  const runs = toRuns(ada, library.id)
  await api.hamlet.stores.runs.record(runs)
  const emailId = await addEmail(api, ada, runs[0]?.id ?? null)
  const webhook = { url: "https://receiver.invalid/", events: ["val.saved"], isPaused: true }
  const added = await api.call("POST", "/v1/me/webhooks", { as: ada, body: webhook })
  const webhookId = expectStatus(added, 201).json.id
  return { ada, bob, library, libraryComments, importers, runs, emailId, webhookId, secrets }
}

/** Stored as it would be on a server that sends mail. */
async function addEmail(api: TestApi, owner: TestUser, runId: string | null): Promise<string> {
  const id = api.hamlet.nouns.clock.newId()
  const content = { from: null, to: null, subject: "Hi", text: "é" }
  await api.hamlet.parts.outboundMail.emails.add(
    {
      id,
      accountId: owner.id,
      kind: "val",
      runId,
      val: null,
      from: "ada@example.com",
      recipients: ["bob@example.com"],
      subject: "Hi",
      createdAt: firstRunAt,
      content: new TextEncoder().encode(JSON.stringify(content)),
    },
    { recipientsPerDay: undefined, bytesPerDay: undefined, storedBytesMax: 1_000 },
  )
  return id
}

async function addImporter(api: TestApi, owner: TestUser, baseUrl: string, name: string) {
  return addVal(api, owner, {
    name,
    code: `import { one } from "${baseUrl}/v/ada/library"\nexport default one`,
    privacy: "public",
  })
}

/** A val, made through the API. */
async function addVal(
  api: TestApi,
  owner: TestUser,
  body: Record<string, unknown>,
): Promise<{ readonly id: string }> {
  return expectStatus(await api.call("POST", "/v1/vals", { as: owner, body }), 200).json
}

// At times that a test can name. Their ids are of today: runs that are too old are deleted.
function toRuns(account: TestUser, valId: string): readonly RunRecord[] {
  const base = {
    valId,
    version: 2,
    accountId: account.id,
    ownerId: account.id,
    parentId: null,
    request: null,
    args: [],
    logsTruncated: false,
  }
  const run = (
    minute: number,
    more: Pick<RunRecord, "source" | "status" | "error" | "returnValue" | "logs">,
  ): RunRecord => {
    const startedAt = firstRunAt + minute * 60_000
    return { ...base, ...more, id: Bun.randomUUIDv7(), startedAt, endedAt: startedAt + 25 }
  }
  const logs = [
    { at: new Date(firstRunAt).toISOString(), level: "info" as const, message: "hello" },
  ]
  return [
    run(0, { source: "http", status: "succeeded", error: null, returnValue: null, logs }),
    run(1, {
      source: "api",
      status: "failed",
      error: { name: "TypeError", message: "x is not a function" },
      returnValue: null,
      logs: [],
    }),
    run(2, { source: "api", status: "succeeded", error: null, returnValue: 3, logs: [] }),
  ]
}
