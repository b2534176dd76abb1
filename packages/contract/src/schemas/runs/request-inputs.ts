import { z } from "zod"
import { limits } from "../../limits.ts"
import { args, place } from "../inputs.ts"
import { chars, list } from "../lengths.ts"

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerName = chars(limits.requestHeadCharsMax).regex(
  tokenPattern,
  "must be the name of a header",
)
// Programs disagree about other characters in headers.
const headerValue = chars(limits.requestHeadCharsMax).regex(
  /^[\t\x20-\x7e]*$/,
  "must be visible ASCII, spaces and tabs",
)
const headerPairs = list(z.tuple([headerName, headerValue]), limits.requestHeadersMax)
const headerRecord = z
  .record(headerName, headerValue)
  .refine(
    (record) => Object.keys(record).length <= limits.requestHeadersMax,
    `must be at most ${limits.requestHeadersMax} headers`,
  )
const requestHeaders = z.union([headerPairs, headerRecord])

/** Converts headers to a list, whichever way they were written. */
export function toHeaderPairs(
  headers: z.output<typeof requestHeaders>,
): readonly (readonly [name: string, value: string])[] {
  return Array.isArray(headers) ? headers : Object.entries(headers)
}

const requestMethod = chars(limits.requestMethodCharsMax)
  .regex(tokenPattern, "must be an HTTP method")
  .refine(
    (method) => !/^(?:connect|trace)$/i.test(method),
    "must not be CONNECT or TRACE, which vals never see",
  )
// Path and query, as in a request line.
const requestPath = chars(limits.requestHeadCharsMax).regex(
  /^\/[\x21\x22\x24-\x7e]*$/,
  "must start with / and be visible ASCII without #: percent-encode other characters",
)
const requestBody = {
  body: z
    .string()
    .refine((body) => body.isWellFormed(), "must not contain a lone surrogate")
    .optional(),
  bodyBase64: z.base64().optional(),
}
const isOneBody = (input: {
  readonly body?: string | undefined
  readonly bodyBase64?: string | undefined
}) => !(input.body && input.bodyBase64)
const bodyTwice = { path: ["bodyBase64"], message: "must not be combined with body" }

/** The body of a request to a val: as strict as HTTP on the wire, so that nothing is misread. */
export const sendValRequestBody = z
  .object({
    method: requestMethod,
    path: requestPath,
    headers: requestHeaders.optional(),
    ...requestBody,
    ...place,
  })
  .refine(isOneBody, bodyTwice)
  .refine(
    ({ method, body, bodyBase64 }) => !((body || bodyBase64) && /^(?:get|head)$/i.test(method)),
    {
      path: ["body"],
      message: "must be empty: GET and HEAD have no body",
    },
  )
  .refine(
    ({ path, headers = [] }) =>
      countHeadChars(path, toHeaderPairs(headers)) <= limits.requestHeadCharsMax,
    {
      path: ["headers"],
      message: `must have at most ${limits.requestHeadCharsMax} characters together with the path`,
    },
  )

/**
 * What a replay changes; all of it is optional. `headers` replaces all headers. `args` is for runs
 * that were called with arguments, the others are for runs of a request.
 */
export const replayRunBody = z
  .object({
    method: requestMethod.optional(),
    path: requestPath.optional(),
    headers: requestHeaders.optional(),
    ...requestBody,
    args: args.optional(),
    // Instead of the version that ran.
    version: z.int().min(1).optional(),
  })
  .refine(isOneBody, bodyTwice)

/** On the wire each header adds a colon, a space and a line end. */
function countHeadChars(
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, path.length)
}
