import { existsSync, readFileSync, statSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { toText } from "../terminal/read-input.ts"
import { type FileParts, formatFile, isValName, parseFile } from "./front-matter.ts"

/** A file that is a val. */
export interface ValFile extends FileParts {
  readonly path: string
  /** From its first line, or else its own name. */
  readonly name: string
  /** Tells whether it has changed since. */
  readonly hash: string
}

const extensions = [".ts", ".tsx"]

/** Reads a file with its first line. */
export function readValFile(path: string): ValFile {
  if (!isValFile(path))
    throw new CliError(
      "usage",
      `Cannot make a val of "${path}": its name ends neither in .ts nor in .tsx`,
    )
  return parseValFile(readText(path), path)
}

/** The same where somebody has read it already. */
export function parseValFile(text: string, path: string): ValFile {
  const parts = parseFile(text, path)
  const name = parts.front.name ?? basename(path, extname(path))
  if (!isValName(name))
    throw new CliError("usage", `Cannot make a val of "${path}": "${name}" cannot be its name`, {
      advice: 'give it another in the first line, as in "// hamlet: name=hello"',
    })
  return { ...parts, path, name, hash: hashText(text) }
}

/** Whether a file can be a val, by its name. */
export function isValFile(path: string): boolean {
  return extensions.includes(extname(path)) && !path.endsWith(".d.ts")
}

/** What a val looks like as a file. */
export function toValFileText(
  val: { readonly name: string; readonly code: string } & Pick<
    FileParts["front"],
    "privacy" | "type"
  >,
): string {
  const { name, privacy, type, code } = val
  return formatFile({ front: { name, ...(privacy && { privacy }), ...(type && { type }) }, code })
}

/** Where the file of a val is or should be: the one that is there already, or a new one. */
export function findValPath(
  folder: string,
  val: { readonly name: string; readonly code: string },
): string {
  // A name becomes a path: whatever answers there, nothing is written outside of the folder.
  if (!isValName(val.name))
    throw new CliError(
      "failed",
      `Cannot make a file of val "${val.name}": that is no name of a val`,
    )
  const paths = extensions.map((extension) => join(folder, val.name + extension))
  return paths.find((path) => existsSync(path)) ?? join(folder, val.name + toExtension(val.code))
}

/**
 * How the name of a file with that code ends: where there are elements, only `.tsx` makes sense to
 * an editor.
 */
export function toExtension(code: string): string {
  return /<\/[A-Za-z>]|\/>/.test(code) ? ".tsx" : ".ts"
}

/** A file's text, within the limit. */
export function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > limits.inputBytesMax)
      throw new CliError(
        "failed",
        `Cannot read "${path}": it is larger than ${limits.inputBytesMax} bytes`,
      )
    return toText(readFileSync(path), `"${path}"`)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === "ENOENT")
      throw new CliError("notFound", `Cannot read "${path}": there is no such file`, { cause })
    throw new CliError("failed", `Cannot read "${path}": ${message}`, { cause })
  }
}

/** The same for texts that are equal, and only for those. */
export function hashText(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex")
}
