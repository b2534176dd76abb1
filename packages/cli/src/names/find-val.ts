import { ApiError, type Output } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { Connection } from "../servers/connection.ts"
import { parseValName, type ValName } from "./val-name.ts"

/** A val, as the API returns it. */
export type Val = Output<"getVal">

/** A val found by name. */
export interface FoundVal {
  /** The val at the named version, or else at its current one. */
  readonly val: Val
  /** The version in the name, if any. */
  readonly version: number | undefined
}

/** Finds the val that a text names, or throws. */
export async function findVal(connection: Connection, text: string): Promise<FoundVal> {
  const { candidates, host } = parseValName(text)
  let missing: unknown
  for (const candidate of candidates) {
    try {
      const val = await getVal(connection, candidate)
      if (host === undefined || isAt(connection, val, host))
        return { val, version: candidate.version }
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
      missing = error
    }
  }
  if (missing) throw missing
  throw new CliError(
    "notFound",
    `Cannot find a val at "${text}": the URL is not on ${connection.server.url}`,
    {
      advice: 'use "--server" to select another server',
    },
  )
}

/** Finds a val by a name without a version. */
export async function findWholeVal(connection: Connection, text: string): Promise<Val> {
  const { val, version } = await findVal(connection, text)
  if (version === undefined) return val
  throw new CliError(
    "usage",
    `Cannot use "${text}" here: it names a version, and this command takes a whole val`,
  )
}

/** The name of a val with its owner, `ada/hello`. */
export function toFullName(val: {
  readonly name: string
  readonly author: { readonly username: string }
}): string {
  return `${val.author.username}/${val.name}`
}

async function getVal(connection: Connection, candidate: ValName): Promise<Val> {
  const { client } = connection
  const val = await getCurrent(connection, candidate)
  const { version } = candidate
  return version === undefined || version === val.version
    ? val
    : client.getVersion({ val_id: val.id, version })
}

async function getCurrent(
  { client, me }: Connection,
  { kind, id, username, name }: ValName,
): Promise<Val> {
  if (kind === "id") return client.getVal({ val_id: id })
  return client.getValByName({
    username: kind === "own" ? (await me()).username : username,
    val_name: name,
  })
}

/** Another server may have a val of the same name, and deleting this one would be a surprise. */
function isAt({ server }: Connection, val: Val, host: string): boolean {
  const addresses = [server.url, val.url, val.links.self, val.links.module, val.links.endpoint]
  return addresses.some((address) => address !== undefined && new URL(address).host === host)
}
