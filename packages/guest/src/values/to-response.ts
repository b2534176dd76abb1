import {
  bare,
  jsonStringify,
  ReadableStreamCtor,
  ResponseCtor,
  stringStartsWith,
  stringTrimStart,
} from "../primordials.ts"
import { toJson } from "./to-json.ts"

const textInit = bare({ headers: bare({ "content-type": "text/plain; charset=utf-8" }) })
const htmlInit = bare({ headers: bare({ "content-type": "text/html; charset=utf-8" }) })
const jsonInit = bare({ headers: bare({ "content-type": "application/json; charset=utf-8" }) })
const bytesInit = bare({ headers: bare({ "content-type": "application/octet-stream" }) })
const emptyInit = bare({ status: 204 })

const MapCtor = Map
const SetCtor = Set
const BlobCtor = Blob
const FormDataCtor = FormData
const URLSearchParamsCtor = URLSearchParams
const ArrayBufferCtor = ArrayBuffer
const isView = ArrayBuffer.isView

/** Converts a return value to a response. */
export function toResponse(value: unknown): Response {
  if (value === undefined || value === null) return new ResponseCtor(null, emptyInit)
  if (typeof value === "string")
    return new ResponseCtor(
      value,
      stringStartsWith(stringTrimStart(value), "<") ? htmlInit : textInit,
    )
  if (value instanceof ResponseCtor) return value
  if (value instanceof ArrayBufferCtor || isView(value))
    return new ResponseCtor(value as BodyInit, bytesInit)
  const isBody =
    value instanceof BlobCtor ||
    value instanceof ReadableStreamCtor ||
    value instanceof FormDataCtor ||
    value instanceof URLSearchParamsCtor
  // Bodies set their own content type, or have none.
  if (isBody) return new ResponseCtor(value)
  return new ResponseCtor(stringify(value), jsonInit)
}

/** Like Response.json, except that nothing is refused: a bigint, a cycle or a Map is serialised. */
function stringify(value: unknown): string {
  try {
    const json =
      value instanceof MapCtor || value instanceof SetCtor ? undefined : jsonStringify(value)
    if (json !== undefined) return json
  } catch {}
  return toJson(value, Infinity).json
}
