/**
 * Mail: sends an email from the address of your val. Without `to` it goes to yourself.
 *
 * ```ts
 * import { email } from "https://esm.town/v/std/email"
 *
 * await email({ subject: "Build failed", text: "See the log" })
 * ```
 *
 * Names and behaviour are those of Val Town's module, so that vals written for it run unchanged.
 *
 * @module
 */

/** An address with a name. */
export interface IAddress {
  email: string
  name?: string
}

/** A file that is sent with an email. */
export interface AttachmentData {
  /** In base64, as `btoa` returns it. */
  content: string
  filename: string
  /** Its content type, such as `text/plain`; also `text`. */
  type?: string
  /** `attachment`, or `inline` for a picture in the HTML. */
  disposition?: string
  /** The name by which the HTML refers to it, as in `<img src="cid:name">`. */
  contentId?: string
}

/** An email to be sent. */
export interface EmailData {
  /** The recipients; the owner of the val if there are none. */
  to?: (IAddress | string)[] | IAddress | string
  cc?: (IAddress | string)[] | IAddress | string
  bcc?: (IAddress | string)[] | IAddress | string
  from?: IAddress | string
  replyTo?: (IAddress | string)[] | IAddress | string
  subject?: string
  /** The content without formatting. */
  text?: string
  /** The content with formatting. */
  html?: string
  attachments?: AttachmentData[]
  /** Additional headers of the email. */
  headers?: Record<string, string>
}

/** The response to an email that was accepted. */
export interface EmailResponse {
  message: string
  /** The email in the list of outgoing ones, which shows whether it was sent. */
  id: string
}

/** An email was not accepted. */
export class ValTownEmailError extends Error {
  override name = "ValTownEmailError"
  /** The error code of the server, if it sent one. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

/** Sends an email. Fails with a `ValTownEmailError` if the server does not accept it. */
export async function email(data: EmailData): Promise<EmailResponse> {
  if (typeof data !== "object" || data === null)
    throw new TypeError("Cannot send the email: email() takes an object, as in { subject, text }")
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  if (server === undefined)
    throw new ValTownEmailError(
      "Cannot send the email: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment",
    )
  if (token === undefined)
    throw new ValTownEmailError(
      "Cannot send the email: this val runs on another user's account, which sends no mail",
    )
  const response = await send(`${server}/v1/email`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(data),
  })
  if (response.ok) return await response.json()
  const { message, code } = await response.json().catch(() => ({}))
  throw new ValTownEmailError(
    message ?? `Cannot send the email: the server answered ${response.status}`,
    code,
  )
}

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default email
