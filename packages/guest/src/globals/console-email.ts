import { ErrorCtor } from "../primordials.ts"

interface Refusal {
  readonly message?: string
}

/**
 * `console.email` of Val Town: sends a value to the owner of the val. A string is the text; an
 * object with `text` or `html` is the email itself; anything else is sent as JSON.
 */
export async function emailToOwner(value: unknown, subject?: string): Promise<void> {
  const [server, token] = [Deno.env.get("HAMLET_URL"), Deno.env.get("HAMLET_TOKEN")]
  if (server === undefined || token === undefined)
    throw new ErrorCtor(
      "Cannot send the email: this val runs on another user's account, which sends no mail",
    )
  // Not the original: only the replacement carries the id of the run.
  const response = await globalThis.fetch(`${server}/v1/email`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ ...toEmail(value), ...(subject === undefined ? {} : { subject }) }),
  })
  if (response.ok) return void (await response.body?.cancel())
  const { message }: Refusal = await response.json().catch(() => ({}))
  throw new ErrorCtor(message ?? `Cannot send the email: the server answered ${response.status}`)
}

function toEmail(value: unknown): object {
  if (typeof value === "string") return { text: value }
  const isEmail =
    typeof value === "object" && value !== null && ("text" in value || "html" in value)
  return isEmail ? value : { text: JSON.stringify(value, null, 2) ?? String(value) }
}
