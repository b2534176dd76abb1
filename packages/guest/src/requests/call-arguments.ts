import {
  arrayPush,
  bare,
  bytesSubarray,
  DateCtor,
  decodeText,
  FileCtor,
  isArray,
  jsonParse,
  objectKeys,
  requestArrayBuffer,
  requestText,
} from "../primordials.ts"
import type { CallBody, EmailBody } from "../protocol.ts"

/** The arguments of a call, from the body of its request: `/c`, or `/m` for an email. */
export async function readArguments(
  request: Request,
  isEmail: boolean,
): Promise<readonly unknown[]> {
  if (isEmail) return [readEmail(await requestArrayBuffer(request))]
  const body = jsonParse(await requestText(request)) as Partial<CallBody>
  const args = isArray(body.args) ? body.args : []
  if (body.isTyped === true) decodeDates(args)
  return args
}

/**
 * Replaces `{ $date }` by a Date, anywhere in the arguments of a call. The server has made the
 * arguments, but they contain texts and names from elsewhere: an object only counts with one
 * property of exactly this kind.
 */
function decodeDates(value: object): void {
  const keys = objectKeys(value)
  const record = value as Record<string, unknown>
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const part = record[key]
    if (typeof part !== "object" || part === null) continue
    const date = toDate(part)
    if (date === undefined) decodeDates(part)
    else record[key] = date
  }
}

function toDate(value: object): Date | undefined {
  const keys = objectKeys(value)
  const { $date } = value as { $date?: unknown }
  return !isArray(value) && keys.length === 1 && typeof $date === "number"
    ? new DateCtor($date)
    : undefined
}

const Bytes = Uint8Array
const lengthBytes = 4

/** The argument of a val of type email, from the body of a `/m` request. */
function readEmail(body: ArrayBuffer): unknown {
  const bytes = new Bytes(body)
  const jsonEnd = lengthBytes + readLength(bytes)
  const email = jsonParse(decodeText(bytesSubarray(bytes, lengthBytes, jsonEnd))) as {
    -readonly [Field in keyof EmailBody]: unknown
  }
  email.attachments = toFiles(email.attachments as EmailBody["attachments"], bytes, jsonEnd)
  if (email.date !== undefined) email.date = new DateCtor(email.date as string)
  return email
}

/** In unsigned arithmetic: bit operators would give a negative number for the highest bit. */
function readLength(bytes: Uint8Array): number {
  let length = 0
  for (let index = 0; index < lengthBytes; index += 1) length = length * 256 + (bytes[index] ?? 0)
  return length
}

function toFiles(
  list: EmailBody["attachments"],
  bytes: Uint8Array<ArrayBuffer>,
  from: number,
): readonly File[] {
  const files: File[] = []
  let at = from
  for (let index = 0; index < list.length; index += 1) {
    const { name, type, size } = list[index] as EmailBody["attachments"][number]
    arrayPush(files, new FileCtor([bytesSubarray(bytes, at, at + size)], name, bare({ type })))
    at += size
  }
  return files
}
