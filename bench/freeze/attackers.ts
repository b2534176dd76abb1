import { type Client, createClient } from "@hamlet/contract/client"
import { chooseLimits } from "../harness/brief.ts"

/** Sends one attack after the other: each call is one request with its response. */
export type Attacker = () => Promise<void>

const limits = chooseLimits(
  {
    codeChars: 256_000,
    queryChars: 511,
    vals: 12,
    bodyBytes: 2_000_000,
    textChars: 5_000_000,
    logChars: 99_000,
    values: 3_700_000,
  },
  { codeChars: 1_000, vals: 1, bodyBytes: 1_000, textChars: 1_000, logChars: 1_000, values: 100 },
)

/**
 * Three users: one whose secret is expensive to mask, one whose vals are expensive to search, and
 * one with large arguments and values.
 */
export async function createAttackers(
  url: string,
  adminToken: string,
): Promise<readonly Attacker[]> {
  const [masker, searcher, sender] = await Promise.all(
    ["masker", "searcher", "sender"].map((name) => addUser(url, adminToken, name)),
  )
  if (!masker || !searcher || !sender) throw new Error("Cannot create the users of the benchmark")
  await masker.client.putSecret({ name: "SLOW", value: `${"a".repeat(127)}b` })
  await put(masker, "returns", `export default () => "a".repeat(${limits.textChars})`)
  await put(masker, "logs", `export default () => console.log("a".repeat(${limits.logChars}))`)
  const code = `//${"-".repeat(limits.codeChars - 2)}`
  for (let count = 0; count < limits.vals; count++) await put(searcher, `large${count}`, code)
  await put(sender, "takes", "export default (...args) => args.length")
  await put(sender, "gives", `export default () => new Array(${limits.values}).fill(1)`)
  const args = `{"args":[[${"[],".repeat(limits.bodyBytes / 3)}1]]}`
  const query = `${"-".repeat(limits.queryChars - 1)}!`
  return [
    runInTurn(masker, ["/v1/run/masker.returns", "/v1/run/masker.logs"]),
    async () => {
      await (await fetch(`${url}/v1/search/vals?query=${encodeURIComponent(query)}`)).arrayBuffer()
    },
    runInTurn(sender, ["/v1/run/sender.takes", "/v1/run/sender.gives"], args),
  ]
}

interface User {
  readonly client: Client
  /** Starts a run, which may fail. */
  run(path: string, body: string): Promise<void>
}

async function addUser(baseUrl: string, adminToken: string, username: string): Promise<User> {
  const admin = createClient({ baseUrl, token: adminToken })
  const { token } = await admin.createUser({ username })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  return {
    client: createClient({ baseUrl, token }),
    async run(path, body) {
      await (await fetch(baseUrl + path, { method: "POST", headers, body })).arrayBuffer()
    },
  }
}

async function put({ client }: User, name: string, code: string): Promise<void> {
  await client.saveVal({ name, code, type: "script", privacy: "public" })
}

/** Runs both vals in turn; the first one gets the body. */
function runInTurn(user: User, [first, second]: readonly [string, string], body = "{}"): Attacker {
  let isFirst = false
  return () => {
    isFirst = !isFirst
    return isFirst ? user.run(first, body) : user.run(second, "{}")
  }
}
