/**
 * Blobs: data under a name. Those of `std/blob` belong to your account, and all of your vals share
 * them; those of `std/blob/main.ts` belong to the val that runs, whichever module imports it.
 *
 * ```ts
 * import { blob } from "https://esm.town/v/std/blob"
 *
 * await blob.setJSON("counter", { count: 1 })
 * const counter = await blob.getJSON<{ count: number }>("counter")
 * ```
 *
 * Names and behaviour are those of Val Town's module, so that vals written for it run unchanged.
 *
 * @module
 */

/** A blob in a list. */
export interface BlobEntry {
  key: string
  /** In bytes. */
  size: number
  /** ISO 8601. */
  lastModified: string
}

/** An operation on a blob failed. */
export class ValTownBlobError extends Error {
  override name = "ValTownBlobError"
  /** The error code of the server, if it sent one. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** No blob has this key. */
export class ValTownBlobNotFoundError extends ValTownBlobError {
  override name = "ValTownBlobNotFoundError"
}

/** The blobs of your account, or of the val. */
export const blob = {
  /** The unread content of a blob. Throws a `ValTownBlobNotFoundError` if no blob has this key. */
  get,
  /** The content of a JSON blob; undefined if no blob has this key. */
  getJSON,
  /** Creates or replaces a blob. A stream is sent as it is read. */
  set,
  /** Stores a value as JSON. */
  setJSON,
  /** Lists the blobs, or those whose keys start with a prefix. */
  list,
  /** Deletes a blob. Throws a `ValTownBlobNotFoundError` if no blob has this key. */
  delete: remove,
  /** Copies a blob. */
  copy,
  /** Renames a blob. */
  move,
}

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default blob

async function get(key: string): Promise<Response> {
  return await request(`get blob "${key}"`, toPath(key))
}

// biome-ignore lint/suspicious/noExplicitAny: without a type argument the value is untyped, as in Val Town's module
async function getJSON<Value = any>(key: string): Promise<Value | undefined> {
  try {
    return await (await get(key)).json()
  } catch (error) {
    if (error instanceof ValTownBlobNotFoundError) return undefined
    if (error instanceof SyntaxError)
      throw new ValTownBlobError(`Cannot get blob "${key}" as JSON: ${error.message}`)
    throw error
  }
}

async function set(key: string, value: BodyInit): Promise<void> {
  await change(`set blob "${key}"`, toPath(key), { method: "POST", body: value })
}

async function setJSON(key: string, value: unknown): Promise<void> {
  const body = JSON.stringify(value)
  if (body === undefined)
    throw new TypeError(`Cannot set blob "${key}": ${typeof value} is nothing that JSON can hold`)
  await change(`set blob "${key}"`, toPath(key), {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  })
}

async function list(prefix = ""): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = []
  for (let isMore = true; isMore; ) {
    const after = entries.at(-1)?.key
    const response = await request(
      "list blobs",
      `?prefix=${encode(prefix)}${after === undefined ? "" : `&after=${encode(after)}`}`,
    )
    const page: BlobEntry[] = await response.json()
    for (const entry of page) entries.push(entry)
    isMore = page.length > 0 && /rel="?next/.test(response.headers.get("link") ?? "")
  }
  return entries
}

async function remove(key: string): Promise<void> {
  await change(`delete blob "${key}"`, toPath(key), { method: "DELETE" })
}

async function copy(from: string, to: string): Promise<void> {
  const path = toPath(to)
  const { body, headers } = await get(from)
  const type = headers.get("content-type")
  await change(`set blob "${to}"`, path, {
    method: "POST",
    body,
    ...(type === null ? {} : { headers: { "content-type": type } }),
  })
}

async function move(from: string, to: string): Promise<void> {
  // Moving a blob onto itself must not delete it.
  if (from === to) return void (await (await get(from)).body?.cancel())
  await copy(from, to)
  await remove(from)
}

function toPath(key: string): string {
  // A URL would interpret these.
  if (key === "" || key === "." || key === "..")
    throw new ValTownBlobError(`Cannot use "${key}" as the key of a blob`)
  return `/${encode(key)}`
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new ValTownBlobError("Cannot use the key of a blob: it has half a character in it")
  }
}

async function change(what: string, path: string, init: RequestInit): Promise<void> {
  await (await request(what, path, init)).body?.cancel()
}

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

/** Whether it has what belongs to the val that runs: where it was imported as `std/blob/main.ts`. */
const isForVal = /^[^?]*\/blob(?:@[^/?]*)?\/main(?:\.tsx?)?(?:\?|$)/i.test(import.meta.url)
const root = isForVal ? "/v2/blob" : "/v1/blob"

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

async function request(what: string, path: string, init: RequestInit = {}): Promise<Response> {
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  if (server === undefined)
    throw new ValTownBlobError(
      `Cannot ${what}: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment`,
    )
  if (token === undefined)
    throw new ValTownBlobError(
      `Cannot ${what}: this val runs on another user's account, which has no storage`,
    )
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` }
  const response = await send(`${server}${root}${path}`, { ...init, headers })
  if (response.ok) return response
  throw await toError(what, response)
}

async function toError(what: string, response: Response): Promise<ValTownBlobError> {
  const { message, code } = await response.json().catch(() => ({}))
  const text = message ?? `Cannot ${what}: the server answered ${response.status}`
  return response.status === 404
    ? new ValTownBlobNotFoundError(text, code)
    : new ValTownBlobError(text, code)
}
