import { SdkClient } from "./sdk-client.ts"
import type { Val, ValFile } from "./sdk-records.ts"
import { SdkError } from "./sdk-transport.ts"

/** Who calls, with data that the operations need and the client cannot create. */
export interface SdkScene {
  readonly client: SdkClient
  readonly userId: string
  readonly username: string
}

/** A user and a server, as a program on another platform gets them. */
export interface SdkAccount {
  readonly baseUrl: string
  readonly apiKey: string
  readonly userId: string
  readonly username: string
}

/** Each operation of the client by its route, with what it needs before it; the result is JSON. */
export const operations = {
  "GET /v1/alias/{username}": ({ client, username }) => client.alias.retrieveUser(username),
  "GET /v2/alias/vals/{username}/{val_name}": async ({ client, username }) => {
    const { name } = await addVal(client)
    return client.alias.retrieveVal(username, name)
  },
  "GET /v1/me": ({ client }) => client.me.retrieveProfile(),
  "GET /v2/me/vals": async ({ client }) => {
    const { id } = await addVal(client)
    const vals = await client.me.listVals({ limit: 100 }).toArray()
    return vals.find((val) => val.id === id)
  },
  "GET /v2/orgs": async ({ client }) => client.orgs.list({ limit: 10, offset: 0 }).toArray(),
  "GET /v2/orgs/{org_id}/memberships": ({ client }) =>
    toFailure(client.orgs.listMemberships(crypto.randomUUID())),
  "GET /v1/blob": async ({ client }) => {
    await client.blobs.store("listed/é 1", toBytes("12345"))
    return client.blobs.list({ prefix: "listed/" })
  },
  "GET /v1/blob/{key}": async ({ client }) => {
    await client.blobs.store("read", toBytes("content"))
    return (await client.blobs.get("read")).text()
  },
  "POST /v1/blob/{key}": ({ client }) => client.blobs.store("a/b?c", toBytes("content")),
  "DELETE /v1/blob/{key}": async ({ client }) => {
    await client.blobs.store("deleted", toBytes(""))
    return [await client.blobs.delete("deleted"), await toFailure(client.blobs.get("deleted"))]
  },
  "GET /v1/users/{user_id}": ({ client, userId }) => client.users.retrieve(userId),
  "POST /v1/sqlite/execute": ({ client }) =>
    client.sqlite.execute({ statement: "select 1 as one" }),
  "POST /v1/sqlite/batch": ({ client }) =>
    client.sqlite.batch({
      statements: ["select 1 as one", { sql: "select ? as two", args: [2] }],
      mode: "read",
    }),
  "GET /v1/telemetry/traces": ({ client }) =>
    client.telemetry.listTraces({ limit: 1, direction: "desc" }),
  "GET /v1/telemetry/logs": ({ client }) =>
    client.telemetry.listLogs({ limit: 1, direction: "desc" }),
  "POST /v3/connections/google-docs/token": ({ client }) =>
    toFailure(client.token.google({ email: "ada@example.org" })),
  "POST /v3/connections/slack/token": ({ client }) =>
    toFailure(client.token.slack({ team_id: "T1" })),
  "POST /v2/vals": ({ client }) => addVal(client, { description: "A val" }),
  "GET /v2/vals/{val_id}": async ({ client }) => client.vals.retrieve((await addVal(client)).id),
  "GET /v2/vals": async ({ client, userId }) => {
    const { id } = await addVal(client)
    for await (const val of client.vals.list({ limit: 1, user_id: userId, privacy: "private" }))
      if (val.id === id) return val
    return undefined
  },
  "DELETE /v2/vals/{val_id}": async ({ client }) => {
    const { id } = await addVal(client)
    return [await client.vals.delete(id), await toFailure(client.vals.retrieve(id))]
  },
  "POST /v2/vals/{val_id}/branches": async ({ client }) => {
    const { id } = await addVal(client)
    return client.branches.create(id, { name: "try" })
  },
  "GET /v2/vals/{val_id}/branches/{branch_id}": async ({ client }) => {
    const { id } = await addVal(client)
    const [main] = await client.branches.list(id).toArray()
    return client.branches.retrieve(id, main?.id ?? "")
  },
  "GET /v2/vals/{val_id}/branches": async ({ client }) => {
    const { id } = await addVal(client)
    await client.branches.create(id, { name: "try" })
    return (await client.branches.list(id, { limit: 1 }).toArray()).map(({ name }) => name).sort()
  },
  "DELETE /v2/vals/{val_id}/branches/{branch_id}": async ({ client }) => {
    const { id } = await addVal(client)
    const branch = await client.branches.create(id, { name: "try" })
    return [
      await client.branches.delete(id, branch.id),
      await toFailure(client.branches.retrieve(id, branch.id)),
    ]
  },
  "POST /v2/vals/{val_id}/files": async ({ client }) => {
    const { id } = await addVal(client)
    return addFile(client, id, "main.tsx")
  },
  "GET /v2/vals/{val_id}/files": async ({ client }) => {
    const { id } = await addVal(client)
    await addFile(client, id, "lib/db.ts")
    await addFile(client, id, "main.tsx")
    const files = client.valFiles.retrieve(id, { path: "", recursive: true, limit: 1, offset: 0 })
    return (await files.toArray()).map(({ path, type }) => [path, type])
  },
  "PUT /v2/vals/{val_id}/files": async ({ client }) => {
    const { id } = await addVal(client)
    await addFile(client, id, "main.tsx")
    return client.valFiles.update(id, { path: "main.tsx", content: "2", name: "app.tsx" })
  },
  "DELETE /v2/vals/{val_id}/files": async ({ client }) => {
    const { id } = await addVal(client)
    await addFile(client, id, "lib/db.ts")
    await client.valFiles.delete(id, { path: "lib", recursive: true })
    return client.valFiles.retrieve(id, { path: "", recursive: true }).toArray()
  },
  "GET /v2/vals/{val_id}/files/content": async ({ client }) => {
    const { id } = await addVal(client)
    await addFile(client, id, "main.tsx")
    const response = await client.valFiles.getContent(id, { path: "main.tsx", version: 1 })
    return [response.headers.get("content-type"), await response.text()]
  },
  "POST /v2/vals/{val_id}/environment_variables": async ({ client }) => {
    const { id } = await addVal(client)
    const variable = { key: "KEY", value: "hush", description: "A key" }
    return client.environmentVariables.create(id, variable)
  },
  "PUT /v2/vals/{val_id}/environment_variables/{key}": async ({ client }) => {
    const { id } = await addVal(client)
    await client.environmentVariables.create(id, { key: "KEY", value: "hush" })
    return client.environmentVariables.update(id, "KEY", { value: "hush hush" })
  },
  "GET /v2/vals/{val_id}/environment_variables": async ({ client }) => {
    const { id } = await addVal(client)
    await client.environmentVariables.create(id, { key: "ONE", value: "hush" })
    await client.environmentVariables.create(id, { key: "TWO", value: "hush" })
    const found = await client.environmentVariables.list(id, { limit: 1, offset: 0 }).toArray()
    return found.sort((one, other) => (one.key < other.key ? -1 : 1))
  },
  "DELETE /v2/vals/{val_id}/environment_variables/{key}": async ({ client }) => {
    const { id } = await addVal(client)
    await client.environmentVariables.create(id, { key: "KEY", value: "hush" })
    return [
      await client.environmentVariables.delete(id, "KEY"),
      await toFailure(client.environmentVariables.delete(id, "KEY")),
    ]
  },
  "GET /v2/files/{file_id}": async ({ client }) => {
    const { id } = await addVal(client)
    return client.files.retrieve((await addFile(client, id, "main.tsx")).id)
  },
  "POST /v1/email": ({ client }) =>
    client.emails.send({ to: "bob@example.org", subject: "Hi", text: "é" }),
} satisfies Record<string, (scene: SdkScene) => Promise<unknown>>

export type OperationName = keyof typeof operations
export const operationNames = Object.keys(operations) as OperationName[]

/** Calls every operation, one after the other. */
export async function callAll(account: SdkAccount): Promise<Partial<Record<string, unknown>>> {
  const scene = { ...account, client: new SdkClient(account) }
  const results: Record<string, unknown> = {}
  for (const name of operationNames) results[name] = await operations[name](scene)
  return JSON.parse(JSON.stringify(results))
}

/** A private val with a name that no other has. */
export function addVal(client: SdkClient, fields: { description?: string } = {}): Promise<Val> {
  const name = `val_${crypto.randomUUID().slice(0, 8)}`
  return client.vals.create({ name, privacy: "private", ...fields })
}

/** A script with the text `1`. */
export function addFile(client: SdkClient, valId: string, path: string): Promise<ValFile> {
  return client.valFiles.create(valId, { path, type: "script", content: "1" })
}

/** The name of the error's class, its status and code. */
export async function toFailure(call: Promise<unknown>): Promise<readonly unknown[]> {
  try {
    return ["no error", await call]
  } catch (error) {
    if (error instanceof SdkError) return [error.constructor.name, error.status, error.error?.code]
    throw error
  }
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
