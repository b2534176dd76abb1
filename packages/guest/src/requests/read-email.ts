import {
  arrayPush,
  bare,
  bytesSubarray,
  DateCtor,
  decodeText,
  FileCtor,
  jsonParse,
} from "../primordials.ts"
import type { EmailBody } from "../protocol.ts"

const Bytes = Uint8Array
const lengthBytes = 4

/** The argument of a val of type email, from the body of a `/m` request. */
export function readEmail(body: ArrayBuffer): unknown {
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
