import { limits, text } from "@hamlet/contract"
import { z } from "zod"
import { findStorage, storageArgument as val } from "../find-storage.ts"
import { defineTool, type ToolContext, ToolError, toolLimits } from "../tool.ts"

const key = text(limits.blobKeyCharsMax, 1).describe("The key of the blob")

const listBlobs = defineTool({
  name: "list_blobs",
  title: "List blobs",
  description:
    "Lists the keys of your blobs in alphabetical order: those that all your vals share through std/blob, or those of one val.",
  scopes: ["blob:read"],
  effect: "read",
  input: z.object({
    prefix: z.string().max(limits.blobKeyCharsMax).default("").describe("How the keys begin"),
    after: z
      .string()
      .max(limits.blobKeyCharsMax)
      .optional()
      .describe("nextAfter of the page before, to get the next page"),
    limit: z.int().min(1).max(1_000).default(100).describe("How many keys at most"),
    val,
  }),
  output: z.object({
    blobs: z.array(z.object({ key: z.string(), bytes: z.int(), modifiedAt: z.string() })),
    nextAfter: z.string().nullable().describe("Pass it as after; null on the last page"),
  }),
  async run(context, { val, ...input }) {
    const { storage } = await findStorage(context, val)
    const found = await storage.listBlobs(input)
    const blobs = found.map((blob) => ({
      key: blob.key,
      bytes: blob.size,
      modifiedAt: blob.lastModified,
    }))
    const last = found.length === input.limit ? (found.at(-1)?.key ?? null) : null
    return { data: { blobs, nextAfter: last } }
  },
})

const readBlob = defineTool({
  name: "read_blob",
  title: "Read a blob",
  description:
    "Returns the content of a blob, as text if it is UTF-8. Long content comes in pages.",
  scopes: ["blob:read"],
  effect: "read",
  input: z.object({
    key,
    offset: z.int().min(0).default(0).describe("The first byte to return"),
    val,
  }),
  output: z.object({
    key: z.string(),
    contentType: z.string(),
    bytes: z.int().describe("The size of the whole blob"),
    offset: z.int(),
    nextOffset: z.int().nullable().describe("Pass it as offset; null at the end"),
    text: z.string().describe("Base64 if isBase64 is true"),
    isBase64: z.boolean(),
  }),
  async run(context, { key, offset, val }) {
    const { bytes, contentType, total } = await fetchRange(context, key, offset, val)
    const isLast = offset + bytes.length >= total
    const { text, isBase64, length } = toText(bytes, isLast)
    const next = offset + length
    const nextOffset = next < total ? next : null
    return { data: { key, contentType, bytes: total, offset, nextOffset, text, isBase64 } }
  },
})

async function fetchRange(
  context: ToolContext,
  key: string,
  offset: number,
  val: string | undefined,
) {
  const { fetch } = context
  // A URL cannot contain these as a segment, and the client refuses them too.
  if (key === "." || key === "..")
    throw new ToolError(`Cannot read blob "${key}": no blob has that key`)
  const end = offset + toolLimits.textCharsMax - 1
  const { storage, valId } = await findStorage(context, val)
  const path = `blob/${encodeURIComponent(key)}`
  const response = await fetch(
    valId === undefined ? `/v1/${path}` : `/v2/${path}?val_id=${valId}`,
    {
      headers: { range: `bytes=${offset}-${end}` },
    },
  )
  // The client of the API turns an error into one with its code.
  if (response.status >= 400 && response.status !== 416) await storage.getBlob({ key })
  if (response.status === 416 && offset > 0)
    throw new ToolError(`Cannot read from byte ${offset}: the blob is shorter`)
  const isPart = response.status === 206
  const bytes = response.ok || response.status === 416 ? await response.bytes() : undefined
  if (bytes === undefined) throw new ToolError(`Cannot read the blob: status ${response.status}`)
  const content = response.ok ? bytes : new Uint8Array()
  const total = isPart
    ? Number(response.headers.get("content-range")?.split("/")[1])
    : content.length
  const contentType = response.headers.get("content-type") ?? "application/octet-stream"
  return { bytes: content, contentType, total }
}

const charBytesMax = 4

/** Text if the bytes are UTF-8; a page may end inside a character, which the next page begins with. */
function toText(bytes: Uint8Array, isLast: boolean) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  for (let cut = 0; cut < (isLast ? 1 : charBytesMax); cut++) {
    const length = bytes.length - cut
    try {
      return { text: decoder.decode(bytes.subarray(0, length)), isBase64: false, length }
    } catch {
      // Not UTF-8 up to there.
    }
  }
  return { text: Buffer.from(bytes).toString("base64"), isBase64: true, length: bytes.length }
}

const writeBlob = defineTool({
  name: "write_blob",
  title: "Write a blob",
  description: "Stores text or bytes under a key, and replaces what was stored there.",
  scopes: ["blob:write"],
  effect: "destroy",
  input: z.object({
    key,
    text: z.string().optional().describe("The content as text"),
    base64: z.base64().optional().describe("Or the content as bytes in base64"),
    contentType: z
      .string()
      .min(1)
      .max(limits.blobTypeCharsMax)
      .optional()
      .describe("Such as application/json; by default text/plain for text"),
    val,
  }),
  output: z.object({ key: z.string(), bytes: z.int() }),
  async run(context, { key, text, base64, contentType, val }) {
    if ((text === undefined) === (base64 === undefined))
      throw new ToolError("Cannot write the blob: pass exactly one of text and base64")
    const content = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text)
    if (contentType !== undefined && !/^[\x20-\x7e]+$/.test(contentType))
      throw new ToolError("Cannot write the blob: contentType must be ASCII, such as text/plain")
    const type = contentType ?? (text === undefined ? undefined : "text/plain;charset=utf-8")
    const { storage } = await findStorage(context, val)
    await storage.putBlob({ key, content, contentType: type })
    return { data: { key, bytes: content.length } }
  },
})

const deleteBlob = defineTool({
  name: "delete_blob",
  title: "Delete a blob",
  description: "Deletes a blob. There is no undo.",
  scopes: ["blob:write"],
  effect: "destroy",
  input: z.object({ key, val }),
  output: z.object({ key: z.string() }),
  async run(context, { key, val }) {
    const { storage } = await findStorage(context, val)
    await storage.deleteBlob({ key })
    return { data: { key } }
  },
})

/** The blobs of the user, and of the user's vals. */
export const blobTools = [listBlobs, readBlob, writeBlob, deleteBlob]
