import type { SQLInputValue } from "node:sqlite"
import type { SqlStatement, SqlValue as Value } from "../owner-databases.ts"
import type { Parameters } from "./scan-sql.ts"
import { StatementError } from "./sql-errors.ts"

/** The values of named parameters by name, then those of the others in order. */
export type Bindings = readonly [Readonly<Record<string, SQLInputValue>>, ...SQLInputValue[]]

/** The values of all parameters for SQLite. */
export function bindArgs(parameters: Parameters, args: SqlStatement["args"]): Bindings {
  return toBindings(parameters, listArgs(parameters, args))
}

/** The values of parameters 1, 2, … for SQLite. */
export function toBindings(parameters: Parameters, values: readonly SQLInputValue[]): Bindings {
  const named: Record<string, SQLInputValue> = Object.create(null)
  const others: SQLInputValue[] = []
  for (const [index, value] of values.entries()) {
    const name = parameters[index]
    if (isNamed(name)) named[name] = value
    else others.push(value)
  }
  return [named, ...others]
}

/** Whether a parameter has a name and not only a number. */
export function isNamed(name: string | null | undefined): name is string {
  return typeof name === "string" && !name.startsWith("?")
}

/** The values of parameters 1, 2, …. A missing one is an error; SQLite would use null. */
export function listArgs(
  parameters: readonly (string | null | undefined)[],
  args: SqlStatement["args"],
): readonly SQLInputValue[] {
  if (isList(args) && args.length !== parameters.length)
    throw new StatementError(
      `it has ${parameters.length} parameters, and there are ${args.length} arguments`,
    )
  return parameters.map((name, index) =>
    toBound(isList(args) ? (args[index] as Value) : findArg(args, name, index)),
  )
}

function isList(args: SqlStatement["args"]): args is readonly Value[] {
  return Array.isArray(args)
}

/** Unused names are ignored: programs pass the same object to several statements. */
function findArg(
  args: Readonly<Record<string, Value>>,
  name: string | null | undefined,
  index: number,
): Value {
  if (typeof name !== "string")
    throw new StatementError(
      `parameter ${index + 1} has no name, and the arguments are given by name`,
    )
  for (const key of [name, name.slice(1)]) {
    const value = Object.hasOwn(args, key) ? args[key] : undefined
    if (value !== undefined) return value
  }
  throw new StatementError(`there is no argument for parameter ${name}`)
}

/** A whole number becomes an integer: as a real, 5 would be stored as "5.0" in a text column. */
function toBound(value: Value): SQLInputValue {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === "boolean") return value ? 1n : 0n
  if (value === null || typeof value === "string") return value
  return "base64" in value
    ? Buffer.from(String(value.base64), "base64")
    : Uint8Array.from(Object.values(value))
}
