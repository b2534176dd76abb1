/** Sends one attack after the other: each call is one request with its response. */
export type Attacker = () => Promise<void>

const limits = { codeChars: 256_000, queryChars: 511, vals: 12, bodyBytes: 2_000_000 }

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
  await masker.send("PUT", "/v1/me/secrets/SLOW", { value: `${"a".repeat(127)}b` })
  await masker.put("returns", `export default () => "a".repeat(5_000_000)`)
  await masker.put("logs", `export default () => console.log("a".repeat(99_000))`)
  const code = `//${"-".repeat(limits.codeChars - 2)}`
  for (let count = 0; count < limits.vals; count++) await searcher.put(`large${count}`, code)
  await sender.put("takes", "export default (...args) => args.length")
  await sender.put("gives", "export default () => new Array(3_700_000).fill(1)")
  const args = `{"args":[[${"[],".repeat(limits.bodyBytes / 3)}1]]}`
  const query = `${"-".repeat(limits.queryChars - 1)}!`
  return [
    inTurn(masker, [
      ["POST", "/v1/run/masker.returns", "{}"],
      ["POST", "/v1/run/masker.logs", "{}"],
    ]),
    inTurn(undefined, [
      ["GET", `${url}/v1/search/vals?query=${encodeURIComponent(query)}`, undefined],
    ]),
    inTurn(sender, [
      ["POST", "/v1/run/sender.takes", args],
      ["POST", "/v1/run/sender.gives", "{}"],
    ]),
  ]
}

interface User {
  send(method: string, path: string, body?: unknown): Promise<void>
  put(name: string, code: string): Promise<void>
}

async function addUser(url: string, adminToken: string, username: string): Promise<User> {
  const response = await fetch(`${url}/v1/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ username }),
  })
  const { token } = (await response.json()) as { token: string }
  const send: User["send"] = async (method, path, body) => {
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    await (await fetch(`${url}${path}`, { method, headers, body: text })).arrayBuffer()
  }
  return {
    send,
    put: (name, code) => send("PUT", "/v1/vals", { name, code, type: "script", privacy: "public" }),
  }
}

function inTurn(
  user: User | undefined,
  requests: readonly (readonly [string, string, string | undefined])[],
): Attacker {
  let count = 0
  return async () => {
    const [method, path, body] = requests[count++ % requests.length] as (typeof requests)[number]
    if (user) await user.send(method, path, body)
    else await (await fetch(path)).arrayBuffer()
  }
}
