import { toPreviewCookie } from "../../shared/cookies.ts"

/** Headers that describe the bytes which the val has sent, and not those with the script. */
const ofOtherBytes = [
  "accept-ranges",
  "content-digest",
  "content-length",
  "content-md5",
  "digest",
  "etag",
  "last-modified",
  "repr-digest",
]

/** Whether the response is a page that can have the script. */
export function mayHaveScript(status: number, headers: Headers): boolean {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";")
  const charset = parameters.map((parameter) => parameter.trim()).find((it) => it.startsWith("cha"))
  return (
    type.trim() === "text/html" &&
    // The others may have other bytes for the letters of tags.
    (charset === undefined ||
      /^charset="?(?:utf-?8|us-ascii|iso-8859-\d+|windows-125\d)"?$/.test(charset)) &&
    /^(?:identity)?$/i.test(headers.get("content-encoding")?.trim() ?? "") &&
    !/^\s*attachment/i.test(headers.get("content-disposition") ?? "") &&
    (status < 300 || status >= 400) &&
    status !== 206
  )
}

/** Changes the headers of a page that gets the script. No cache may keep it: other visitors get the page without the script. */
export function toScriptedHeaders(headers: Headers): void {
  for (const name of ofOtherBytes) headers.delete(name)
  headers.set("cache-control", "no-store")
  headers.append("set-cookie", toPreviewCookie())
}
