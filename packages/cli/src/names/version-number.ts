import { InvalidArgumentError } from "commander"
import { CliError } from "../cli-error.ts"
import type { Connection } from "../servers/connection.ts"
import { findVal, type Val } from "./find-val.ts"

/** A val and a version number. */
export interface ValVersion {
  readonly val: Val
  readonly version: number
}

/** Finds the version that `hello@3` or `hello 3` names; without a number the current one. */
export async function findValVersion(
  connection: Connection,
  text: string,
  number: number | undefined,
): Promise<ValVersion> {
  const { val, version } = await findVal(connection, text)
  return { val, version: pick(text, version, number) ?? val.version }
}

/** Finds a version that must be named explicitly; `val` is the current val. */
export async function findNamedVersion(
  connection: Connection,
  text: string,
  number: number | undefined,
): Promise<ValVersion> {
  const found = await findVal(connection, text)
  const version = pick(text, found.version, number)
  if (version === undefined)
    throw new CliError("usage", "Cannot continue without a version", {
      advice: `write "${text}@3" or "${text} 3"`,
    })
  const val =
    found.version === undefined
      ? found.val
      : await connection.client.getVal({ val_id: found.val.id })
  return { val, version }
}

function pick(
  text: string,
  version: number | undefined,
  number: number | undefined,
): number | undefined {
  if (version === undefined || number === undefined) return version ?? number
  throw new CliError(
    "usage",
    `Cannot use two versions: "${text}" names one, and ${number} is another`,
  )
}

/** Parses a version number from the command line. */
export function toVersionNumber(text: string): number {
  if (/^@?\d{1,10}$/.test(text)) return Number(text.replace("@", ""))
  throw new InvalidArgumentError("It must be a version number.")
}
