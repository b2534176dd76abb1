import { InvalidArgumentError } from "commander"
import { CliError } from "../cli-error.ts"
import type { Connection } from "../servers/connection.ts"
import { findVal, type Val } from "./find-val.ts"

/** A val, and the number of one of its versions. */
export interface ValVersion {
  readonly val: Val
  readonly version: number
}

/** The version that two words name: `hello@3`, or `hello 3`. Without a number it is the current one. */
export async function findValVersion(
  connection: Connection,
  text: string,
  number: number | undefined,
): Promise<ValVersion> {
  const { val, version } = await findVal(connection, text)
  return { val, version: pick(text, version, number) ?? val.version }
}

/** The same, where guessing would be dangerous; the val is as it is now. */
export async function findNamedVersion(
  connection: Connection,
  text: string,
  number: number | undefined,
): Promise<ValVersion> {
  const found = await findVal(connection, text)
  const version = pick(text, found.version, number)
  if (version === undefined)
    throw new CliError("usage", "Cannot tell which version is meant", {
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
    `Cannot tell which version is meant: "${text}" names one, and ${number} is another`,
  )
}

/** The number of a version, as an argument. */
export function toVersionNumber(text: string): number {
  if (/^@?\d{1,10}$/.test(text)) return Number(text.replace("@", ""))
  throw new InvalidArgumentError("It must be the number of a version.")
}
