import { text } from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { type ToolContext, ToolError } from "./tool.ts"

/** A val as the API returns it. */
export type ApiVal = Output<"getVal">

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The argument of a tool that names a val. */
export const valArgument = text(200, 1).describe(
  'The val: "username/name", "name" for one of your own, or its id',
)

/** Finds the val that an assistant names. */
export async function findVal({ client, username }: ToolContext, named: string): Promise<ApiVal> {
  if (idPattern.test(named)) return client.getVal({ val_id: named })
  const [owner, name] = toNames(named, username)
  return client.getValByName({ username: owner, val_name: name })
}

/** The id of the val that an assistant names, without a request if it is an id already. */
export async function findValId(context: ToolContext, named: string): Promise<string> {
  return idPattern.test(named) ? named : (await findVal(context, named)).id
}

function toNames(named: string, username: string): readonly [owner: string, name: string] {
  const parts = named.replace(/^@/, "").split("/")
  const [first = "", second] = parts
  if (parts.length > 2 || first === "" || second === "" || /^\.{1,2}$/.test(second ?? first))
    throw new ToolError(
      `Cannot find val "${named}": it must be "username/name", "name" or an id, such as "${username}/hello"`,
    )
  return second === undefined ? [username, first] : [first, second]
}
