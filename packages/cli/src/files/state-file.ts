import { existsSync, lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { writeFileWhole } from "./write-file.ts"

/** The path of a file with the state of a folder. */
export function toStatePath(folder: string, name = "state.json"): string {
  return join(folder, ".hamlet", name)
}

/** Reads the state of a folder; undefined if there is none. `advice` is for one that is not valid. */
export function findState<State>(
  path: string,
  isValid: (value: unknown) => value is State,
  advice: string,
): State | undefined {
  if (!existsSync(path)) return undefined
  try {
    const stored: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (isValid(stored)) return stored
  } catch (cause) {
    if (!(cause instanceof SyntaxError))
      throw new CliError("failed", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
  throw new CliError("failed", `Cannot read "${path}": its content is not valid`, { advice })
}

/** Writes the state of a folder. It is local, so `.hamlet` excludes itself from Git. */
export function writeState(folder: string, path: string, state: object): void {
  const inner = join(folder, ".hamlet")
  if (lstatSync(inner, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new CliError("failed", `Cannot write "${inner}": it is a link`)
  // A folder that was renamed meanwhile must not come back: both would be that of the same val.
  if (!existsSync(folder))
    throw new CliError("failed", `Cannot write "${path}": the folder "${folder}" is gone`)
  const ignored = join(inner, ".gitignore")
  if (!existsSync(ignored)) writeFileWhole(ignored, "*\n")
  writeFileWhole(path, `${JSON.stringify(state, undefined, 2)}\n`)
}

/** Whether a value of JSON is the id of something on the server. */
export function isId(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f-]{36}$/.test(value)
}
