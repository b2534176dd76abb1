import { z } from "zod"
import {
  args,
  bodyTwice,
  isOneBody,
  requestBody,
  requestHeaders,
  requestMethod,
  requestPath,
} from "../inputs.ts"

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
