import { z } from "zod"
import { limits } from "../../limits.ts"
import { text } from "../fields.ts"

/** The workspace whose token is wanted. */
export const slackTokenBody = z.object({ team_id: text(limits.connectionCharsMax, 1) })

/** The account whose token is wanted. */
export const googleDocsTokenBody = z.object({ email: text(limits.connectionCharsMax, 1) })

/** A token of another service. */
export const connectionToken = z
  .object({ access_token: z.string(), granted_scopes: z.array(z.string()).optional() })
  .meta({ id: "ConnectionToken" })
